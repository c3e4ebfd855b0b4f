/** Summarizes a long run: how often each fault happened, and which checks held. */
import { messageOf } from '../../../src/kernel/errors.ts'
import { tableLines } from '../../../src/cli/report/table.ts'

interface Check {
  readonly what: string
  /** What is wrong; empty if the check held */
  readonly problems: readonly string[]
}

interface Happened {
  times: number
  /** Longest time in ms until work continued */
  slowest: number
}

/** Maximum number of problems shown per check */
const MAX_SHOWN = 5

export class Verdict {
  messages = 0
  /** Number of hosts that did not stop within their own time limit; other hosts took over their work */
  late = 0
  readonly #run: { readonly minutes: number; readonly seed: number }
  readonly #faults = new Map<string, Happened>()
  readonly #checks: Check[] = []

  constructor(run: { readonly minutes: number; readonly seed: number }) {
    this.#run = run
  }

  happened(what: string, ms: number): void {
    const known = this.#faults.get(what) ?? { times: 0, slowest: 0 }
    this.#faults.set(what, { times: known.times + 1, slowest: Math.max(known.slowest, ms) })
  }

  check(what: string, problems: readonly string[]): void {
    this.#checks.push({ what, problems })
  }

  /** Runs a check; counts it as failed when it throws. */
  async checking(what: string, look: () => Promise<readonly string[]>): Promise<void> {
    this.check(what, await look().catch((error: unknown) => [`it cannot be seen: ${messageOf(error)}`]))
  }

  get isGood(): boolean {
    return this.#checks.every(({ problems }) => problems.length === 0)
  }

  get asJson(): object {
    const faults = [...this.#faults].map(([what, { times, slowest }]) => ({ what, times, slowestMs: slowest }))
    const checks = this.#checks.map(({ what, problems }) => ({ what, held: problems.length === 0, problems }))
    return { ...this.#run, isGood: this.isGood, messages: this.messages, endedLate: this.late, faults, checks }
  }

  get asText(): string {
    const faults = [...this.#faults].map(([what, { times, slowest }]) => [what, String(times), String(slowest)])
    const checks = this.#checks.map(({ what, problems }) => [what, problems.length === 0 ? 'yes' : 'NO'])
    const wrong = this.#checks.flatMap(({ problems }) => problems.slice(0, MAX_SHOWN).map((one) => `wrong: ${one}`))
    return [
      ...tableLines([['what happened', 'times', 'ms until all went on, at most'], ...faults], new Set([1, 2])),
      '',
      ...tableLines([['what has to hold', 'held'], ...checks], new Set()),
      '',
      ...wrong,
      `${this.messages} messages; ${this.late} hosts ended late; seed ${this.#run.seed}`,
      this.isGood ? 'all is as with one host' : 'NOT all is as with one host',
    ].join('\n')
  }
}
