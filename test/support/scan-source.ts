/**
 * Scans TypeScript source for its imports and the names that its code uses. It is not a parser: it blanks out comments,
 * strings and regular expressions, then matches patterns in the rest.
 */
export interface Import {
  /** as written; undefined when computed, as in `import(name)` */
  specifier: string | undefined
  line: number
}

export interface Scan {
  /** the source with the contents of comments, strings and regular expressions blanked out; same length and lines */
  code: string
  /** every import and re-export, including `import type`, `import()` and `typeof import()` */
  imports: readonly Import[]
}

export function scanSource(source: string): Scan {
  const { code, strings } = blank(source)
  const found = new Map<number, Import>()
  const lineAt = (index: number) => code.slice(0, index).split('\n').length
  const add = (index: number, quote: number | undefined) =>
    found.set(index, { specifier: quote === undefined ? undefined : strings.get(quote), line: lineAt(index) })

  // `import x from '`, `export { y } from '`, `export * from '`: only names, braces, commas and stars in between
  for (const match of code.matchAll(/(?<![.\w$])(?:import|export)(?=[\s{*])[\w\s{},*$]*?(?<![\w$])from\s*(?=['"])/g)) {
    add(match.index, match.index + match[0].length)
  }
  for (const match of code.matchAll(/(?<![.\w$])import\s*(?=['"])/g)) add(match.index, match.index + match[0].length)
  for (const match of code.matchAll(/(?<![.\w$])(?:import|require)\s*\(\s*/g)) {
    const quote = match.index + match[0].length
    add(match.index, strings.has(quote) ? quote : undefined)
  }
  return { code, imports: [...found.entries()].sort(([a], [b]) => a - b).map(([, entry]) => entry) }
}

interface Blanked {
  code: string
  /** text of each string literal, by the index of its opening quote */
  strings: ReadonlyMap<number, string>
}

/** a slash after one of these begins a regular expression; after anything else it divides */
const REGEX_AFTER = /^(?:|[(,=:[!&|?{};+\-*%<>~^]|return|typeof|case|in|of|do|else|void|throw|yield|await)$/

function blank(source: string): Blanked {
  const out = source.split('')
  const strings = new Map<number, string>()
  /** depth of braces inside each open `${` */
  const templates: number[] = []
  /** the last word or sign of the code */
  let before = ''
  let at = 0

  const hide = (from: number, to: number) => {
    for (let i = from; i < to && i < out.length; i++) if (out[i] !== '\n') out[i] = ' '
  }
  /** returns the index after a literal that begins at `from` and ends where `ends` is true */
  const skip = (from: number, ends: (index: number) => boolean) => {
    let i = from
    while (i < source.length && !ends(i)) i += source[i] === '\\' ? 2 : 1
    return Math.min(i, source.length)
  }
  const template = (from: number) => {
    const end = skip(from, (i) => source[i] === '`' || source.startsWith('${', i))
    hide(from, end)
    if (source[end] !== '$') {
      before = '`'
      return end + 1
    }
    templates.push(0)
    before = '{'
    return end + 2
  }

  while (at < source.length) {
    const char = source[at] ?? ''
    if (source.startsWith('//', at) || (at === 0 && source.startsWith('#!'))) {
      const line = source.indexOf('\n', at)
      const end = line < 0 ? source.length : line
      hide(at, end)
      at = end
    } else if (source.startsWith('/*', at)) {
      const close = source.indexOf('*/', at + 2)
      const end = close < 0 ? source.length : close + 2
      hide(at, end)
      at = end
    } else if (char === '"' || char === "'") {
      const end = skip(at + 1, (i) => source[i] === char || source[i] === '\n')
      strings.set(at, source.slice(at + 1, end))
      hide(at + 1, end)
      before = char
      at = end + 1
    } else if (char === '`') {
      const start = at
      at = template(at + 1)
      if (before === '`') strings.set(start, source.slice(start + 1, at - 1))
    } else if (char === '/' && REGEX_AFTER.test(before)) {
      let inClass = false
      const end = skip(at + 1, (i) => {
        if (source[i] === '[') inClass = true
        if (source[i] === ']') inClass = false
        return source[i] === '\n' || (source[i] === '/' && !inClass)
      })
      hide(at + 1, end)
      before = '/re/'
      at = end + 1
    } else if (char === '}' && templates.at(-1) === 0) {
      templates.pop()
      at = template(at + 1)
    } else {
      const depth = templates.at(-1)
      if (depth !== undefined && char === '{') templates[templates.length - 1] = depth + 1
      if (depth !== undefined && char === '}') templates[templates.length - 1] = depth - 1
      if (/[\w$]/.test(char)) before = /[\w$]/.test(source[at - 1] ?? '') ? before + char : char
      else if (/\S/.test(char)) before = char
      at++
    }
  }
  return { code: out.join(''), strings }
}
