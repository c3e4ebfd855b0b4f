/** Warns of triggers on a change that fire again after each reset of observations. */
import type { TaskSettings } from '../rule.ts'
import type { Invocations } from './invocations.ts'
import type { Report } from './report.ts'
import { GATE_STATES, type PartialRule, type RuleIndex } from './rule-index.ts'
import { at, shown } from '#kernel'

const MAX_DEPTH = 50

/** `*` is compared with the state known at that moment, only a named state with the one before the reset. */
export function checkResets(
  rule: PartialRule,
  index: RuleIndex,
  { resetObservations = true, resetScope }: TaskSettings,
  invocations: Invocations,
  report: Report,
): void {
  if (!resetObservations) return
  let resets: readonly Reset[] | undefined
  const isForgotten = (label: string, state: string): boolean => {
    if (index.nodes.get(label)?.kind === 'sensor') return true
    resets ??= (invocations.kinds() ?? []).map((renewed) => new Reset(renewed, index))
    const leading = resets.filter((reset) => reset.reaches(label))
    return leading.length > 0 && leading.every((reset) => reset.forgets(label, state))
  }
  rule.triggers?.forEach((trigger, i) => {
    const { sourceLabel = '', destinationLabel = '' } = trigger
    const { stateFrom, stateTo = '' }: { stateFrom?: string; stateTo?: string } = trigger.stateChangeTrigger ?? {}
    if (stateFrom !== '*' || stateTo === '' || index.nodes.get(sourceLabel)?.kind === 'actuator') return
    // a trigger that also names the state in `statesTrigger` intends to fire each time
    if (trigger.statesTrigger?.includes(stateTo) === true || !invocations.byAny.has(sourceLabel)) return
    if (resetScope !== 'task' && !isForgotten(sourceLabel, stateTo)) return
    const what = stateTo === '*' ? 'a state' : shown(stateTo)
    report.warning(
      'RESET',
      at('', 'triggers', i, 'stateChangeTrigger', 'stateFrom'),
      `trigger ${shown(sourceLabel)} -> ${shown(destinationLabel)} fires whenever a run finds ${what}, changed or not, because each run first clears the state with which "*" is compared`,
      stateTo === '*'
        ? 'use one trigger with "begins" for each set of relevant states, or set stateFrom, which is compared with the state before the reset'
        : `write "begins": [${shown(stateTo)}] instead of stateChangeTrigger, or set stateFrom, which is compared with the state before the reset`,
      { nodeId: sourceLabel },
    )
  })
}

class Reset {
  readonly #renewed: ReadonlySet<string>
  readonly #index: RuleIndex
  readonly #known = new Map<string, boolean>()

  constructor(renewed: ReadonlySet<string>, index: RuleIndex) {
    this.#renewed = renewed
    this.#index = index
  }

  reaches(label: string): boolean {
    return this.#renewed.has(label)
  }

  forgets(label: string, state: string): boolean {
    return (state === '*' ? GATE_STATES : [state]).every((one) => this.#ends(label, one))
  }

  /** `state` undefined: any. Holds whatever the states of other nodes. */
  #ends(label: string, state: string | undefined, depth = 0): boolean {
    if (this.#index.nodes.get(label)?.kind !== 'relation') return this.#renewed.has(label)
    const key = JSON.stringify([label, state])
    const known = this.#known.get(key)
    if (known !== undefined) return known
    this.#known.set(key, false)
    const ends = depth < MAX_DEPTH && this.#gateEnds(label, state, depth + 1)
    this.#known.set(key, ends)
    return ends
  }

  #gateEnds(label: string, state: string | undefined, depth: number): boolean {
    const entry = this.#index.nodes.get(label)
    if (entry?.kind !== 'relation') return false
    const { type, parentLabels = [], combinations = [] } = entry.node
    const [wanted = []] = combinations
    // these states need each parent, so one forgotten parent is enough
    if (type === (state === 'TRUE' ? 'AND' : state === 'FALSE' ? 'NAND' : ''))
      return parentLabels.some((parent, i) => this.#ends(parent, wanted[i], depth))
    if (type === 'OR' && state === 'FALSE')
      return parentLabels.some((parent, i) => this.#ends(parent, this.#other(parent, wanted[i]), depth))
    return parentLabels.every((parent) => this.#ends(parent, undefined, depth))
  }

  #other(label: string, state: string | undefined): string | undefined {
    if (this.#index.nodes.get(label)?.kind !== 'relation') return undefined
    return GATE_STATES.find((one) => one !== state)
  }
}
