/** Counts the events of a run in memory that does not grow with the run. */
import type { EngineEvent, HeldReason } from '#core'
import type { RuleGraph } from '#core/spi'

/** Maximum number of distinct kinds of errors; others are only counted. */
const MAX_KINDS = 1000

export interface NodeTally {
  readonly label: string
  /** Name of the plug, or type of the gate */
  readonly what: string
  executions: number
  changes: number
  fired: number
  errors: number
  readonly held: Map<HeldReason, number>
}

export interface ErrorKind {
  readonly node: string
  readonly text: string
  readonly first: number
  count: number
}

export class Tally {
  readonly #nodes = new Map<string, NodeTally>()
  readonly #errors = new Map<string, ErrorKind>()
  /** Last state of each node; null when the state was evicted */
  readonly #states = new Map<string, string | null>()
  invocations = 0
  taken = 0
  fired = 0
  failure: string | undefined

  constructor(rule: RuleGraph) {
    for (const { label, name } of rule.sensors ?? []) this.#add(label, name)
    for (const { label, type } of rule.relations ?? []) this.#add(label, type)
    for (const { label, name } of rule.actuators ?? []) this.#add(label, name)
  }

  /** Nodes in the order sensors, gates, actuators */
  get nodes(): readonly NodeTally[] {
    return [...this.#nodes.values()]
  }

  get errors(): readonly ErrorKind[] {
    return [...this.#errors.values()]
  }

  take(event: EngineEvent): void {
    if (event.invocation > this.invocations) this.invocations = event.invocation
    switch (event.type) {
      case 'data':
        this.taken++
        break
      case 'state':
      case 'gate':
        this.#changed(event.node, event.to)
        break
      case 'evicted':
        this.#changed(event.node, null)
        break
      case 'fired':
        this.fired++
        this.#node(event.node).fired++
        break
      case 'held': {
        const { held } = this.#node(event.node)
        held.set(event.reason, (held.get(event.reason) ?? 0) + 1)
        break
      }
      case 'result':
        this.#node(event.node).executions++
        if (!event.ok) this.#failed(event.node, event.error ?? 'it failed', event.time)
        break
      case 'failed':
        this.failure = event.error
        break
      default:
    }
  }

  /** A state that was evicted at the start of an invocation and then restored is not a change. */
  #changed(label: string, to: string | null): void {
    const known = this.#states.get(label)
    this.#states.set(label, to)
    if (to !== null && to !== known) this.#node(label).changes++
  }

  #failed(node: string, text: string, time: number): void {
    this.#node(node).errors++
    const key = `${node}\n${text.replace(/\d+(?:\.\d+)?/g, '#')}`
    const known = this.#errors.get(key)
    if (known !== undefined) known.count++
    else if (this.#errors.size < MAX_KINDS) this.#errors.set(key, { node, text, first: time, count: 1 })
  }

  #node(label: string): NodeTally {
    return this.#nodes.get(label) ?? this.#add(label, '')
  }

  #add(label: string, what: string): NodeTally {
    const tally: NodeTally = { label, what, executions: 0, changes: 0, fired: 0, errors: 0, held: new Map() }
    this.#nodes.set(label, tally)
    return tally
  }
}
