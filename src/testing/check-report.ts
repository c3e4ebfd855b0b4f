/** Collects the coverage of a check: what occurred in at least one case, and what never occurred. */
import type { Relation, Rule, Template } from '#core'
import type { RuleGraph } from '#core/spi'
import type { CheckedRun } from './checked-run.ts'
import { lengthText } from './moment-text.ts'

export interface CheckReport {
  /** names of the properties that held */
  readonly properties: readonly string[]
  readonly cases: number
  readonly messages: number
  readonly took: number
  /** seed of the first case; the same seed generates the same cases */
  readonly seed: number
  /** by destination: number of firings, and share of cases with at least one, 0 to 1 */
  readonly fired: Readonly<Record<string, Share>>
  /** by sensor and gate, then by state: share of cases in which the state occurred */
  readonly states: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** by gate, then by row as text: share of cases in which its parents had these states */
  readonly rows: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** number of firings that a cool-down held back */
  readonly held: number
  /** number of process crashes, and how many happened during plug calls */
  readonly restarts: { readonly crashes: number; readonly inFlight: number }
  /** failed plug calls by label: their number, and the text of the first failure */
  readonly failed: Readonly<Record<string, { readonly count: number; readonly first: string }>>
  /** states, rows and destinations that never occurred, as sentences */
  readonly neverMet: readonly string[]
  /** formats the report as a table */
  toString(): string
}

export interface Share {
  readonly count: number
  readonly share: number
}

export class CheckCounts {
  cases = 0
  messages = 0
  held = 0
  crashes = 0
  inFlight = 0
  readonly #fired = new Map<string, { count: number; cases: number }>()
  readonly #states = new Map<string, Map<string, number>>()
  readonly #rows = new Map<string, Map<string, number>>()
  readonly #failed = new Map<string, { count: number; first: string }>()
  readonly #rule: RuleGraph | undefined

  /** `rule`: absent if each case has its own. `statesOf`: returns the possible states of a sensor, if known */
  constructor(rule: Rule | Template | undefined, statesOf: (label: string) => readonly string[]) {
    this.#rule = rule
    for (const { label, combinations } of rowRelations(rule))
      this.#rows.set(label, new Map(combinations.map((row) => [rowText(row), 0])))
    for (const label of sourcesOf(rule)) this.#states.set(label, new Map(statesOf(label).map((s) => [s, 0])))
    for (const destination of destinationsOf(rule)) this.#fired.set(destination, { count: 0, cases: 0 })
  }

  count(run: CheckedRun): void {
    this.cases++
    this.messages += run.messages.length
    const fired = new Map<string, number>()
    for (const event of run.events) {
      if (event.type === 'fired') fired.set(event.node, (fired.get(event.node) ?? 0) + 1)
      else if (event.type === 'held') this.held++
      else if (event.type === 'result' && !event.ok) {
        const known = this.#failed.get(event.node)
        this.#failed.set(event.node, { count: (known?.count ?? 0) + 1, first: known?.first ?? event.error ?? '' })
      }
    }
    for (const [node, count] of fired) {
      const known = this.#fired.get(node)
      this.#fired.set(node, { count: (known?.count ?? 0) + count, cases: (known?.cases ?? 0) + 1 })
    }
    if (this.#rule !== undefined) this.#countStates(run, this.#rule)
  }

  countCrashes(run: CheckedRun): void {
    this.crashes += run.crashes.length
    this.inFlight += run.crashes.filter(({ inFlight }) => inFlight).length
  }

  #countStates({ moments }: CheckedRun, rule: RuleGraph): void {
    for (const label of sourcesOf(rule)) {
      const met = new Set<string>()
      for (const moment of moments) {
        const state = moment.state(label)
        if (state !== null) met.add(state)
      }
      countEach(this.#states, label, met)
    }
    for (const { label, parentLabels, combinations } of rowRelations(rule)) {
      const met = new Set<string>()
      for (const moment of moments) {
        for (const row of combinations) {
          if (row.every((state, i) => moment.state(parentLabels[i] ?? '') === state)) met.add(rowText(row))
        }
      }
      countEach(this.#rows, label, met)
    }
  }

  report(properties: readonly string[], seed: number, took: number): CheckReport {
    const { cases, messages, held, crashes, inFlight } = this
    const share = (count: number) => (cases === 0 ? 0 : count / cases)
    const shares = (counts: Map<string, Map<string, number>>) =>
      Object.fromEntries(
        [...counts].map(([label, of]) => [
          label,
          Object.fromEntries([...of].map(([state, count]) => [state, share(count)])),
        ]),
      )
    const [states, rows] = [shares(this.#states), shares(this.#rows)]
    const fired = Object.fromEntries(
      [...this.#fired].map(([node, { count, cases: of }]) => [node, { count, share: share(of) }]),
    )
    const unmet = (of: typeof states, text: (label: string, state: string) => string) =>
      Object.entries(of).flatMap(([label, met]) =>
        Object.entries(met).flatMap(([state, count]) => (count === 0 ? [text(label, state)] : [])),
      )
    const neverMet = [
      ...unmet(states, (label, state) => `${label} was never ${state}`),
      ...unmet(rows, (label, row) => `no case had the row ${row} of ${label}`),
      ...Object.entries(fired).flatMap(([node, { count }]) => (count === 0 ? [`${node} never fired`] : [])),
    ]
    const report = {
      properties,
      cases,
      messages,
      took,
      seed,
      fired,
      states,
      rows,
      held,
      restarts: { crashes, inFlight },
      failed: Object.fromEntries(this.#failed),
      neverMet,
    }
    return { ...report, toString: () => reportLines(report).join('\n') }
  }
}

function reportLines(report: Omit<CheckReport, 'toString'>): readonly string[] {
  const { properties, cases, messages, took, seed, fired, states, held, restarts, failed, neverMet } = report
  const percent = (share: number) => `${share > 0 && share < 0.01 ? '<1' : Math.round(share * 100)} %`
  const width = Math.max(0, ...[...Object.keys(fired), ...Object.keys(states)].map(({ length }) => length))
  return [
    ...properties.map((name) => `holds: ${name}`),
    `tried: ${cases} cases, ${messages} messages in ${lengthText(took)}, seed ${seed}`,
    ...Object.entries(fired).map(
      ([node, { count, share }]) => `  ${node.padEnd(width)}  fired ${count} times, in ${percent(share)} of the cases`,
    ),
    ...Object.entries(states).map(
      ([label, of]) =>
        `  ${label.padEnd(width)}  ${Object.entries(of)
          .map(([state, share]) => `${state} ${percent(share)}`)
          .join(', ')}`,
    ),
    ...(held > 0 ? [`  held back by cool-downs: ${held}`] : []),
    ...(restarts.crashes > 0 ? [`  restarts: ${restarts.crashes}, ${restarts.inFlight} with calls in flight`] : []),
    ...Object.entries(failed).map(([node, { count, first }]) => `  ${node} failed ${count} times, first: ${first}`),
    ...neverMet.map((text) => `  never: ${text}`),
  ]
}

function countEach(counts: Map<string, Map<string, number>>, label: string, met: ReadonlySet<string>): void {
  const of = counts.get(label) ?? new Map<string, number>()
  counts.set(label, of)
  for (const one of met) of.set(one, (of.get(one) ?? 0) + 1)
}

function rowText(row: readonly string[]): string {
  return `[${row.join(', ')}]`
}

function sourcesOf(rule: RuleGraph | undefined): readonly string[] {
  return [...(rule?.sensors ?? []), ...(rule?.relations ?? [])].map(({ label }) => label)
}

function destinationsOf(rule: RuleGraph | undefined): readonly string[] {
  return [...new Set((rule?.triggers ?? []).map(({ destinationLabel }) => destinationLabel))]
}

/** Returns relations whose rows are separate conditions; COUNT and SHARE only count matches of their row. */
function rowRelations(rule: RuleGraph | undefined): readonly Relation[] {
  return (rule?.relations ?? []).filter(({ type }) => type !== 'COUNT' && type !== 'SHARE')
}
