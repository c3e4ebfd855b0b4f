/** Reads the query of a request and remembers every problem, so that they are told at once. */
import { at, isoInstant, type Issue, Issues, notAnInstant } from '#kernel'

export class QueryReader {
  readonly #query: Readonly<Record<string, unknown>>
  /** made when there is something to remember: nearly every request has no query */
  #issues: Issues | undefined

  constructor(query: unknown) {
    this.#query = typeof query === 'object' && query !== null ? (query as Readonly<Record<string, unknown>>) : {}
  }

  get keys(): readonly string[] {
    return Object.keys(this.#query)
  }

  /** what was found wrong so far */
  get problems(): readonly Issue[] {
    return this.#issues?.list ?? []
  }

  /** Every value of a parameter that may repeat. */
  texts(name: string): readonly string[] {
    const value = this.#query[name]
    if (value === undefined) return []
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    return values.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
  }

  /** An empty value is none; of several, which the routes refuse, the last one. */
  text(name: string): string | undefined {
    const value = this.texts(name).at(-1)
    return value === '' ? undefined : value
  }

  flag(name: string): boolean | undefined {
    const values = this.texts(name)
    const text = values.at(-1)
    if (text === undefined) return undefined
    // `?dryRun` alone means yes
    if (text === 'true' || text === '') return true
    if (text !== 'false') this.wrong(name, `"${text}" is neither true nor false`)
    return false
  }

  integer(name: string, { least = 0, most = Number.MAX_SAFE_INTEGER } = {}): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
    this.wrong(name, `"${text}" is not a whole number ${range}`, `write for example ${name}=${least}`)
    return undefined
  }

  number(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = Number(text)
    if (Number.isFinite(value)) return value
    this.wrong(name, `"${text}" is not a number`)
    return undefined
  }

  /** Epoch ms, of epoch ms or ISO 8601. */
  time(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = /^-?\d{1,16}$/.test(text) ? Number(text) : isoInstant(text)
    if (Number.isFinite(value)) return value
    this.wrong(name, `"${text}" ${notAnInstant(text)}`, 'write epoch milliseconds or ISO 8601')
    return undefined
  }

  oneOf<const T extends string>(name: string, values: readonly T[]): T | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const found = values.find((value) => value === text)
    if (found === undefined) this.wrong(name, `"${text}" is unknown`, `write one of ${values.join(', ')}`)
    return found
  }

  missing(name: string, suggestion: string): void {
    this.wrong(name, 'is missing', suggestion)
  }

  /** Throws `VALIDATION` with all problems, when there are any. */
  done(): void {
    this.#issues?.throwIfAny('the query')
  }

  /** A problem that the service itself found in a parameter. */
  wrong(name: string, message: string, suggestion?: string): void {
    this.#issues ??= new Issues('QUERY')
    this.#issues.wrong(at('', name), message, suggestion)
  }
}
