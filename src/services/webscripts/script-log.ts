/** The last lines of webscripts on this host, bounded for each and in all, and who follows them. */
import { Feed } from '#kernel'
import { LOG_LEVELS, MAX_LINES, type ScriptLine, type ScriptLogPage, type ScriptLogQuery } from './webscript-schema.ts'

const MAX_MESSAGE = 2_000
/** characters that a line takes beside its message, about */
const LINE = 100
const LIMIT = 100

/** Its time is epoch ms: texts are made for those that are read. */
type KeptLine = Omit<ScriptLine, 'timestamp'> & { readonly time: number }

function shown({ number, time, ...line }: KeptLine): ScriptLine {
  return { number, timestamp: new Date(time).toISOString(), ...line }
}

interface KeptLines {
  readonly lines: KeptLine[]
  characters: number
}

/** The webscripts of a tenant, the one that was logged longest ago first. */
interface TenantLines {
  readonly scripts: Map<string, KeptLines>
  characters: number
}

/** characters of one webscript, of all webscripts of a tenant, and of all tenants */
const LIMITS = { ofScript: 262_144, ofTenant: 4 * 1024 * 1024, inAll: 64 * 1024 * 1024 }

export class ScriptLog {
  /** the one that was logged longest ago first */
  readonly #tenants = new Map<string, TenantLines>()
  readonly #feed = new Feed<KeptLine>()
  readonly #limits: typeof LIMITS
  /** what was logged to last: the next line is often its, too */
  #newest: { readonly script: string; readonly kept: TenantLines; readonly own: KeptLines } | undefined
  #characters = 0
  #last = 0

  /** `limits`: characters */
  constructor(limits = LIMITS) {
    this.#limits = limits
  }

  /** `script`: what all versions of a webscript share, its tenant up to the first slash. */
  add(script: string, line: Omit<KeptLine, 'number'>): void {
    const one = { ...line, number: ++this.#last, message: cut(line.message) }
    const { ofScript, ofTenant, inAll } = this.#limits
    const { kept, own } = this.#linesOf(script)
    const before = own.characters
    own.lines.push(one)
    own.characters += sizeOf(one)
    while (own.lines.length > MAX_LINES || own.characters > ofScript) {
      const first = own.lines.shift()
      if (first !== undefined) own.characters -= sizeOf(first)
    }
    this.#count(kept, own.characters - before)
    while (kept.characters > ofTenant && kept.scripts.size > 1) this.#dropOldest(kept)
    for (const [name, other] of this.#characters > inAll ? this.#tenants : []) {
      if (other === kept) break
      while (other.scripts.size > 0 && this.#characters > inAll) this.#dropOldest(other)
      if (other.scripts.size === 0) this.#tenants.delete(name)
    }
    this.#feed.publish(script, one)
  }

  /** Those of a webscript, and what holds them; both are the newest then. */
  #linesOf(script: string) {
    if (this.#newest?.script === script) return this.#newest
    const tenant = tenantOf(script)
    const kept = this.#tenants.get(tenant) ?? { scripts: new Map<string, KeptLines>(), characters: 0 }
    const own = kept.scripts.get(script) ?? { lines: [], characters: 0 }
    // to the end: those at the front go first
    kept.scripts.delete(script)
    kept.scripts.set(script, own)
    this.#tenants.delete(tenant)
    this.#tenants.set(tenant, kept)
    return (this.#newest = { script, kept, own })
  }

  #count(kept: TenantLines, characters: number): void {
    kept.characters += characters
    this.#characters += characters
  }

  #dropOldest(kept: TenantLines): void {
    for (const [script, { characters }] of kept.scripts) {
      kept.scripts.delete(script)
      return this.#count(kept, -characters)
    }
  }

  page(script: string, query: ScriptLogQuery): ScriptLogPage {
    const { after = Number.POSITIVE_INFINITY, limit = LIMIT } = query
    const fits = testOf(query)
    const found = this.#kept(script).filter((line) => line.number < after && fits(line))
    const values = found.slice(-limit).toReversed().map(shown)
    const next = found.length > values.length ? values.at(-1)?.number : undefined
    return { values, ...(next !== undefined && { next }) }
  }

  /** The oldest first. */
  #kept(script: string): readonly KeptLine[] {
    return this.#tenants.get(tenantOf(script))?.scripts.get(script)?.lines ?? []
  }

  /** What is kept after `after` first, then what comes. */
  async *tail(script: string, query: ScriptLogQuery & { readonly signal: AbortSignal }): AsyncGenerator<ScriptLine> {
    const fits = testOf(query)
    const reader = this.#feed.read({ topic: script, signal: query.signal })
    const { after = Number.POSITIVE_INFINITY } = query
    for (const line of this.#kept(script)) if (line.number > after && fits(line)) yield shown(line)
    for await (const { value } of reader) if (fits(value)) yield shown(value)
  }

  /** Nobody follows any more. */
  end(): void {
    this.#feed.end()
  }
}

function tenantOf(script: string): string {
  return script.split('/', 1)[0] ?? ''
}

function sizeOf({ message }: KeptLine): number {
  return message.length + LINE
}

/** A text of its own: a part of a long one would keep all of it. */
function cut(message: string): string {
  return message.length <= MAX_MESSAGE ? message : Buffer.from(message.slice(0, MAX_MESSAGE)).toString()
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
