/** Reports the results of many runs: findings as they occur, and at the end what the runs covered. */
import { isOperation, type Plan, type Step } from './world/plan.ts'
import type { RunResult } from './world/run-plan.ts'

/** number of findings to show per run */
const SHOWN = 3
/** number of operations after a fault that count as affected by it */
const NEAR = 3
/** maximum number of names to keep of runs with findings */
const MOST_NAMES = 1000
/** counts of the world that count as operations of a run, whichever client performs them */
const OPERATIONS = ['asked', 'joined', 'sent', 'read', 'called', 'faults'] as const

type Counts = Record<string, number>

/** The results of runs, as data. */
export interface Met {
  runs: number
  /** number of runs that found something, and the names of the first ones */
  failed: number
  names: string[]
  /** CPU time in ms, including other work of the processes */
  cpuMs: number
  readonly totals: Counts
  readonly oracles: Counts
  readonly operations: Counts
  readonly faults: Counts
  /** how often a fault occurred near an operation, by their names */
  readonly pairs: Counts
}

export class Report {
  readonly met: Met
  readonly #began = process.hrtime.bigint()
  #cpu = process.cpuUsage()

  /** `met`: results of earlier calls. */
  constructor(met?: Met) {
    const nothing = { runs: 0, failed: 0, names: [], cpuMs: 0 }
    this.met = met ?? { ...nothing, totals: {}, oracles: {}, operations: {}, faults: {}, pairs: {} }
  }

  /** number of runs that found something */
  get failed(): number {
    return this.met.failed
  }

  /** Adds a run; returns true when it found something. `again`: the same run, a second time. */
  add(name: string, plan: Plan, { findings, digest, history, world }: RunResult, again?: RunResult): boolean {
    const { met } = this
    met.runs++
    this.#meet(plan.steps)
    addAll(met.totals, { ...world.counts, called: world.notes.list.length })
    addAll(met.totals, { ...world.medium.counts })
    const all = [...findings]
    if (again !== undefined && again.digest !== digest) {
      const at = history.findIndex((line, i) => line !== again.history[i])
      all.push({ oracle: 'the same twice', text: `${history[at]}\n  ${again.history[at]}` })
    }
    for (const { oracle } of all) add(met.oracles, oracle, 1)
    if (all.length === 0) return false
    met.failed++
    if (met.names.length < MOST_NAMES) met.names.push(name)
    const shown = all.slice(0, SHOWN).map(({ oracle, text }) => `  ${oracle}: ${text.slice(0, 400)}`)
    console.log([`${name} found ${all.length}:`, ...shown].join('\n'))
    return true
  }

  /** Ends the report and adds the CPU time of all runs. */
  end(): void {
    const { user, system } = process.cpuUsage(this.#cpu)
    this.met.cpuMs += (user + system) / 1000
    this.#cpu = process.cpuUsage()
  }

  /** Adds the runs of another process. */
  join(other: Met): void {
    const { met } = this
    met.runs += other.runs
    met.failed += other.failed
    met.cpuMs += other.cpuMs
    met.names = [...met.names, ...other.names].slice(0, MOST_NAMES)
    for (const part of ['totals', 'oracles', 'operations', 'faults', 'pairs'] as const) addAll(met[part], other[part])
  }

  text(): string {
    const { runs, failed, names, cpuMs, totals, oracles, operations, faults, pairs } = this.met
    const seconds = Number(process.hrtime.bigint() - this.#began) / 1e9
    const done = OPERATIONS.reduce((sum, name) => sum + (totals[name] ?? 0), 0)
    const rate = Math.round(done / Math.max(cpuMs / 1000, 0.001))
    const most = Object.keys(operations).length * Object.keys(faults).length
    return [
      `${runs} runs, ${failed} with findings; ${seconds.toFixed(1)} s`,
      `${done} operations in ${(cpuMs / 1000).toFixed(1)} s of processors: ${rate} a second`,
      `what happened: ${listed(totals)}`,
      `operations met: ${listed(operations)}`,
      `faults met: ${listed(faults)}`,
      `pairs of both met: ${Object.keys(pairs).length} of ${most}`,
      ...(names.length > 0 ? [`runs with findings: ${names.join(', ')}`] : []),
      ...(failed > 0 ? [`found by: ${listed(oracles)}`] : []),
    ].join('\n')
  }

  /** Counts faults that occur just before or after each operation. */
  #meet(steps: readonly Step[]): void {
    const { operations, faults, pairs } = this.met
    for (const [i, step] of steps.entries()) {
      if (isOperation(step)) {
        add(operations, step.do, 1)
        continue
      }
      const fault = step.fault === 'trouble' ? step.kind : step.fault
      add(faults, fault, 1)
      for (const near of steps.slice(Math.max(0, i - NEAR), i + NEAR + 1)) {
        if (isOperation(near)) add(pairs, `${fault} ${near.do}`, 1)
      }
    }
  }
}

function add(counts: Counts, name: string, count: number): void {
  counts[name] = (counts[name] ?? 0) + count
}

function addAll(counts: Counts, others: Readonly<Counts>): void {
  for (const [name, count] of Object.entries(others)) add(counts, name, count)
}

function listed(counts: Readonly<Counts>): string {
  const most = Object.entries(counts).sort(([, a], [, b]) => b - a)
  return most.map(([name, count]) => `${name} ${count}`).join(', ')
}
