/** The last lines of webscripts on this host, bounded for each and in all, and who follows them. */
import { Feed } from '../../kernel/feed.ts'
import { LruCache } from '../../kernel/lru-cache.ts'
import { LOG_LEVELS, type ScriptLine, type ScriptLogPage, type ScriptLogQuery } from './contract.ts'

/** of one webscript */
export const MAX_LINES = 1_000
const MAX_SCRIPTS = 1_000
const MAX_MESSAGE = 2_000
const LIMIT = 100

/** Its time is epoch ms: texts are made for those that are read. */
type KeptLine = Omit<ScriptLine, 'timestamp'> & { readonly time: number }

function shown({ number, time, ...line }: KeptLine): ScriptLine {
  return { number, timestamp: new Date(time).toISOString(), ...line }
}

export class ScriptLog {
  readonly #lines = new LruCache<string, KeptLine[]>(MAX_SCRIPTS)
  readonly #feed = new Feed<KeptLine>()
  #last = 0

  /** `script`: what all versions of a webscript share. */
  add(script: string, line: Omit<KeptLine, 'number'>): void {
    const one = { ...line, number: ++this.#last, message: line.message.slice(0, MAX_MESSAGE) }
    const lines = this.#lines.get(script) ?? []
    lines.push(one)
    if (lines.length > MAX_LINES) lines.shift()
    this.#lines.set(script, lines)
    this.#feed.publish(script, one)
  }

  page(script: string, query: ScriptLogQuery): ScriptLogPage {
    const { before = Number.POSITIVE_INFINITY, after = 0, limit = LIMIT } = query
    const fits = testOf(query)
    const found = (this.#lines.get(script) ?? []).filter(
      (line) => line.number < before && line.number > after && fits(line),
    )
    const lines = found.slice(-limit).map(shown)
    const [first] = lines
    return { lines, ...(first !== undefined && found.length > lines.length && { before: first.number }) }
  }

  /** What is kept after `after` first, then what comes. */
  async *tail(script: string, query: ScriptLogQuery & { readonly signal: AbortSignal }): AsyncGenerator<ScriptLine> {
    const fits = testOf(query)
    const reader = this.#feed.read({ topic: script, signal: query.signal })
    if (query.after !== undefined) yield* this.page(script, { ...query, limit: MAX_LINES }).lines
    for await (const { value } of reader) if (fits(value)) yield shown(value)
  }

  /** Nobody follows any more. */
  end(): void {
    this.#feed.end()
  }
}

function testOf({ level = 'debug', kind, version, search }: ScriptLogQuery): (line: KeptLine) => boolean {
  const least = LOG_LEVELS.indexOf(level)
  const part = search?.toLowerCase()
  return (line) =>
    LOG_LEVELS.indexOf(line.level) >= least &&
    (kind === undefined || line.kind === kind) &&
    (version === undefined || line.version === version) &&
    (part === undefined || line.message.toLowerCase().includes(part))
}
