/** What many runs came to: findings as they come, and at the end what was met. */
import { isOperation, type Plan, type Step } from './world/plan.ts'
import type { RunResult } from './world/run-plan.ts'

/** findings of one run that are shown */
const SHOWN = 3
/** operations after a fault that count as met by it */
const NEAR = 3

export class Report {
  readonly #began = process.hrtime.bigint()
  readonly #totals = new Map<string, number>()
  readonly #oracles = new Map<string, number>()
  readonly #operations = new Map<string, number>()
  readonly #faults = new Map<string, number>()
  readonly #pairs = new Set<string>()
  #runs = 0
  #failed = 0

  /** runs that found something */
  get failed(): number {
    return this.#failed
  }

  /** True when the run found something. `again`: the same run, a second time. */
  add(name: string, plan: Plan, { findings, digest, history, world }: RunResult, again?: RunResult): boolean {
    this.#runs++
    this.#meet(plan.steps)
    for (const [count, each] of Object.entries({ ...world.counts, ...world.medium.counts })) {
      add(this.#totals, count, each)
    }
    const all = [...findings]
    if (again !== undefined && again.digest !== digest) {
      const at = history.findIndex((line, i) => line !== again.history[i])
      all.push({ oracle: 'the same twice', text: `${history[at]}\n  ${again.history[at]}` })
    }
    for (const { oracle } of all) add(this.#oracles, oracle, 1)
    if (all.length === 0) return false
    this.#failed++
    const shown = all.slice(0, SHOWN).map(({ oracle, text }) => `  ${oracle}: ${text.slice(0, 400)}`)
    console.log([`${name} found ${all.length}:`, ...shown].join('\n'))
    return true
  }

  show(): void {
    const seconds = Number(process.hrtime.bigint() - this.#began) / 1e9
    const asked = this.#totals.get('asked') ?? 0
    const most = this.#operations.size * this.#faults.size
    console.log(
      [
        `${this.#runs} runs, ${this.#failed} with findings; ${asked} requests in ${seconds.toFixed(1)} s`,
        `what happened: ${listed(this.#totals)}`,
        `operations met: ${listed(this.#operations)}`,
        `faults met: ${listed(this.#faults)}`,
        `pairs of both met: ${this.#pairs.size} of ${most}`,
        ...(this.#oracles.size > 0 ? [`found by: ${listed(this.#oracles)}`] : []),
      ].join('\n'),
    )
  }

  /** An operation is met by a fault that comes just before or after it. */
  #meet(steps: readonly Step[]): void {
    for (const [i, step] of steps.entries()) {
      if (isOperation(step)) {
        add(this.#operations, step.do, 1)
        continue
      }
      const fault = step.fault === 'trouble' ? step.kind : step.fault
      add(this.#faults, fault, 1)
      for (const near of steps.slice(Math.max(0, i - NEAR), i + NEAR + 1)) {
        if (isOperation(near)) this.#pairs.add(`${fault} ${near.do}`)
      }
    }
  }
}

function add(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count)
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
}
