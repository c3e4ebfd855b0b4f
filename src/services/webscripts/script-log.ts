/** Keeps the last log lines of all webscripts on this host, limited per webscript, per tenant and in total. */
import { Feed } from '#kernel'
import { LOG_LEVELS, MAX_LINES, type ScriptLine, type ScriptLogPage, type ScriptLogQuery } from './webscript-schema.ts'

const MAX_MESSAGE = 2_000
const LINE = 100
const LIMIT = 100

/** A stored line. Its time is epoch ms, and formatted when read. */
type KeptLine = Omit<ScriptLine, 'timestamp'> & { readonly time: number }

function shown({ number, time, ...line }: KeptLine): ScriptLine {
  return { number, timestamp: new Date(time).toISOString(), ...line }
}

interface KeptLines {
  readonly lines: KeptLine[]
  characters: number
}

interface TenantLines {
  readonly scripts: Map<string, KeptLines>
  characters: number
}

const LIMITS = { ofScript: 262_144, ofTenant: 4 * 1024 * 1024, inAll: 64 * 1024 * 1024 }

export class ScriptLog {
  readonly #tenants = new Map<string, TenantLines>()
  readonly #feed = new Feed<KeptLine>()
  readonly #limits: typeof LIMITS
  /** the most recently used webscript, since the next line often belongs to it too */
  #newest: { readonly script: string; readonly kept: TenantLines; readonly entry: KeptLines } | undefined
  #characters = 0
  #last = 0

  constructor(limits = LIMITS) {
    this.#limits = limits
  }

  /** Adds a line. `script`: tenant, slash and name. */
  add(script: string, line: Omit<KeptLine, 'number'>): void {
    const one = { ...line, number: ++this.#last, message: cut(line.message) }
    const { ofScript, ofTenant, inAll } = this.#limits
    const { kept, entry } = this.#linesOf(script)
    const before = entry.characters
    entry.lines.push(one)
    entry.characters += sizeOf(one)
    while (entry.lines.length > MAX_LINES || entry.characters > ofScript) {
      const first = entry.lines.shift()
      if (first !== undefined) entry.characters -= sizeOf(first)
    }
    this.#count(kept, entry.characters - before)
    while (kept.characters > ofTenant && kept.scripts.size > 1) this.#dropOldest(kept)
    for (const [name, other] of this.#characters > inAll ? this.#tenants : []) {
      if (other === kept) break
      while (other.scripts.size > 0 && this.#characters > inAll) this.#dropOldest(other)
      if (other.scripts.size === 0) this.#tenants.delete(name)
    }
    this.#feed.publish(script, one)
  }

  /** Returns the lines of a webscript, moving the webscript and its tenant to the end. */
  #linesOf(script: string) {
    if (this.#newest?.script === script) return this.#newest
    const tenant = tenantOf(script)
    const kept = this.#tenants.get(tenant) ?? { scripts: new Map<string, KeptLines>(), characters: 0 }
    const entry = kept.scripts.get(script) ?? { lines: [], characters: 0 }
    kept.scripts.delete(script)
    kept.scripts.set(script, entry)
    this.#tenants.delete(tenant)
    this.#tenants.set(tenant, kept)
    return (this.#newest = { script, kept, entry })
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

  #kept(script: string): readonly KeptLine[] {
    return this.#tenants.get(tenantOf(script))?.scripts.get(script)?.lines ?? []
  }

  async *tail(script: string, query: ScriptLogQuery & { readonly signal: AbortSignal }): AsyncGenerator<ScriptLine> {
    const fits = testOf(query)
    const reader = this.#feed.read({ topic: script, signal: query.signal })
    const { after = Number.POSITIVE_INFINITY } = query
    for (const line of this.#kept(script)) if (line.number > after && fits(line)) yield shown(line)
    for await (const { value } of reader) if (fits(value)) yield shown(value)
  }

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

/** Truncates a message. Copies the part, which would otherwise keep the whole text in memory. */
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
