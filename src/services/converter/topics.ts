/** Checks MQTT topic filters, and extracts the texts that their wildcards match. */

const MAX_LEVELS = 64
/** First levels of the broker's own topics. */
const OWN = new Set(['resources', 'messages', 'errors'])

/** Returns why a converter cannot use this filter; undefined when it can. */
export function topicFault(filter: string): string | undefined {
  const levels = filter.split('/')
  if (filter === '' || filter.includes('\0') || levels.length > MAX_LEVELS) return 'is not a valid topic'
  const isWell = levels.every((level, i) => {
    return level === '+' || (level === '#' && i === levels.length - 1) || !/[+#]/.test(level)
  })
  if (!isWell) return 'has a wildcard that is not a whole level, or "#" before its end'
  const [first = ''] = levels
  if (OWN.has(first) || first.startsWith('$')) return 'is a topic of the broker'
  return first === '#' || first === '+' ? 'begins with a wildcard; name the first level' : undefined
}

/** In order, with the rest of the topic for `#`; undefined when the topic does not match. */
export function wildcardsOf(filter: string, topic: string): readonly string[] | undefined {
  const wanted = filter.split('/')
  const levels = topic.split('/')
  const wildcards: string[] = []
  for (const [i, level] of wanted.entries()) {
    if (level === '#') return [...wildcards, levels.slice(i).join('/')]
    const found = levels[i]
    if (found === undefined) return undefined
    if (level === '+') wildcards.push(found)
    else if (level !== found) return undefined
  }
  return levels.length === wanted.length ? wildcards : undefined
}
