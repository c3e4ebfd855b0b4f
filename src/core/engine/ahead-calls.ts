/**
 * Calls that began before their turn: those of plugs that read nothing but a message that waits. What they gave is used
 * when their turn comes, as if they had been called then.
 *
 * AHEAD-1 a call begins ahead only when nothing that comes before can change what it sees
 * AHEAD-2 at most 16 of a task are ahead, so that a backlog does not become a flood
 */
import { messageOf, ownValue } from '#kernel'
import type { SensorNode } from '../graph/graph.ts'
import type { Plug } from '../plug/plug.ts'
import type { WaitingInput } from '../task/input.ts'
import type { Message } from '../task/origin.ts'
import type { TaskModel } from '../task/run.ts'
import { AheadContext, type AheadLine } from './ahead-context.ts'
import { fillProperties, outcomeOf, type Outcome } from './call-plug.ts'
import type { Journal, JournaledTask } from './journal.ts'
import type { OpenCount } from './open-count.ts'

const MAX_AHEAD = 16

export interface AheadCall {
  /** undefined: it was made elsewhere, and its answer is here */
  readonly given: Outcome | Promise<Outcome> | undefined
  /** what it gave, once it may be used */
  outcome: Outcome | undefined
  /** epoch ms */
  readonly beganAt: number
  /** what its plug logged so far */
  readonly lines: readonly AheadLine[]
  readonly abort: AbortController | undefined
  /** the engine counts it among its open calls */
  isOpen: boolean
}

/** What is known of a call that was made elsewhere. */
const NOT_HERE = { given: undefined, lines: [], abort: undefined, isOpen: false } as const

export interface AheadHost {
  readonly globalSettings: Readonly<Record<string, unknown>>
  /** plugs that did not answer at once */
  readonly later: WeakSet<Plug>
  readonly journal: Journal | undefined
  readonly timed: (() => () => void) | undefined
  readonly open: OpenCount
}

export class AheadCalls {
  #model: TaskModel
  readonly #host: AheadHost
  readonly #task: JournaledTask
  #nodes: readonly SensorNode[]
  /** by number of the input, then by label */
  readonly #calls = new Map<number, Map<string, AheadCall>>()
  #size = 0
  /** inputs up to that number were looked at */
  #seen = 0

  constructor(model: TaskModel, host: AheadHost, task: JournaledTask) {
    this.#model = model
    this.#host = host
    this.#task = task
    this.#nodes = nodesOf(model)
  }

  /** Goes on over another rule: what was called for nodes that are touched is given up. */
  change(model: TaskModel, isTouched: (label: string) => boolean): void {
    this.#model = model
    this.#nodes = nodesOf(model)
    for (const calls of this.#calls.values()) {
      for (const [label, call] of calls) {
        if (!isTouched(label)) continue
        call.abort?.abort()
        calls.delete(label)
        this.#size--
      }
    }
  }

  /** Begins what may begin, for inputs that wait. */
  begin(waiting: readonly WaitingInput[], clock: number): void {
    for (const input of waiting) {
      if (this.#size >= MAX_AHEAD) return
      if (input.number <= this.#seen) continue
      this.#seen = input.number
      this.#beginFor(input, clock)
    }
  }

  #beginFor(waiting: WaitingInput, clock: number): void {
    const { number, input } = waiting
    if (input.kind !== 'data' || input.sent?.channel !== undefined) return
    for (const message of input.messages) {
      const place = this.#model.resources.indexOf(message.resource)
      const sensors = this.#model.dataPlans[place]?.sensors
      for (const node of this.#nodes) {
        if (sensors?.includes(node) !== true || !this.#isLater(node.call.plug) || !hasAll(message, node)) continue
        const call = this.#call(node, message, waiting, clock)
        this.#keep(number, node.label, call)
        this.#began(number, node.label, call)
      }
    }
  }

  #call(node: SensorNode, message: Message, waiting: WaitingInput, clock: number): AheadCall {
    const context = new AheadContext(this.#model, node, message, waiting, this.#host.globalSettings)
    const { lines, abort } = context
    return { given: made(this.#model, node, context), outcome: undefined, beganAt: clock, lines, abort, isOpen: false }
  }

  #isLater(plug: Plug): boolean {
    return this.#host.later.has(plug) || plug.execute.constructor.name === 'AsyncFunction'
  }

  #began(number: number, node: string, call: AheadCall): void {
    const { journal, timed, open } = this.#host
    open.opened()
    call.isOpen = true
    const noted = timed?.()
    void Promise.resolve(call.given).then((outcome) => {
      this.#closed(call)
      noted?.()
      if (outcome === undefined || call.abort?.signal.aborted === true) return
      // Where answers are kept, it comes back when it is durable.
      if (journal === undefined) call.outcome = outcome
      else journal.answeredAhead(this.#task, number, node, outcome)
    })
  }

  #closed(call: AheadCall): void {
    if (!call.isOpen) return
    call.isOpen = false
    this.#host.open.closed()
  }

  /** Nobody waits for those that are open. */
  giveUp(): void {
    for (const calls of this.#calls.values()) for (const call of calls.values()) this.#closed(call)
  }

  /** An answer that was given ahead, before a crash or by the call that is open. */
  answered(number: number, node: string, outcome: Outcome, clock: number): void {
    const call = this.#calls.get(number)?.get(node)
    if (call !== undefined) call.outcome = outcome
    else this.#keep(number, node, { ...NOT_HERE, outcome, beganAt: clock })
  }

  #keep(number: number, node: string, call: AheadCall): void {
    const calls = this.#calls.get(number)
    if (calls === undefined) this.#calls.set(number, new Map([[node, call]]))
    else calls.set(node, call)
    this.#size++
  }

  /** The call of a sensor for the input of that number; it is not ahead any more. */
  take(number: number, node: string): AheadCall | undefined {
    const calls = this.#calls.get(number)
    const call = calls?.get(node)
    if (call === undefined) return undefined
    calls?.delete(node)
    this.#size--
    return call
  }

  /** The input of that number is over, or was dropped: what is left of it is given up. */
  drop(number: number): void {
    for (const call of this.#calls.get(number)?.values() ?? []) {
      call.abort?.abort()
      this.#size--
    }
    this.#calls.delete(number)
  }

  dropAll(): void {
    for (const number of this.#calls.keys()) this.drop(number)
  }
}

function nodesOf({ graph }: TaskModel): readonly SensorNode[] {
  return graph.sensors.filter(({ call }) => call.ahead !== undefined)
}

function made({ properties }: TaskModel, node: SensorNode, context: AheadContext): Outcome | Promise<Outcome> {
  const { call } = node
  try {
    return fillProperties(properties.of(call), context) ?? outcomeOf(call.plug, call.plug.execute(context))
  } catch (error) {
    return { ok: false, error: messageOf(error) }
  }
}

function hasAll(message: Message, { call }: SensorNode): boolean {
  return call.ahead?.every((key) => ownValue(message, key) !== undefined) === true
}
