/**
 * Calls plugs that read only their message while that message still waits; the results are applied when its turn comes.
 *
 * AHEAD-1 a call begins ahead only when no earlier input can change what the call sees
 * AHEAD-2 at most 16 calls of a task are ahead, so that a backlog does not become a flood
 */
import { ownValue } from '#kernel'
import type { SensorNode } from '../graph/graph.ts'
import { failedAnswer } from '../plug/call-error.ts'
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
  /** undefined: the call was made before a restart, and only its outcome is known */
  readonly reply: Outcome | Promise<Outcome> | undefined
  outcome: Outcome | undefined
  readonly beganAt: number
  readonly lines: readonly AheadLine[]
  readonly abort: AbortController | undefined
  isOpen: boolean
}

const NOT_HERE = { reply: undefined, lines: [], abort: undefined, isOpen: false } as const

export interface AheadHost {
  readonly globalSettings: Readonly<Record<string, unknown>>
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
  readonly #calls = new Map<number, Map<string, AheadCall>>()
  #size = 0
  #seen = 0

  constructor(model: TaskModel, host: AheadHost, task: JournaledTask) {
    this.#model = model
    this.#host = host
    this.#task = task
    this.#nodes = nodesOf(model)
  }

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
      const index = this.#model.resources.indexOf(message.resource)
      const sensors = this.#model.dataPlans[index]?.sensors
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
    return { reply: made(this.#model, node, context), outcome: undefined, beganAt: clock, lines, abort, isOpen: false }
  }

  #isLater(plug: Plug): boolean {
    return this.#host.later.has(plug) || plug.execute.constructor.name === 'AsyncFunction'
  }

  #began(number: number, node: string, call: AheadCall): void {
    const { journal, timed, open } = this.#host
    open.opened()
    call.isOpen = true
    const noted = timed?.()
    void Promise.resolve(call.reply).then((outcome) => {
      this.#closed(call)
      noted?.()
      if (outcome === undefined || call.abort?.signal.aborted === true) return
      // The journal passes the outcome back when it is durable.
      if (journal === undefined) call.outcome = outcome
      else journal.answeredAhead(this.#task, number, node, outcome)
    })
  }

  #closed(call: AheadCall): void {
    if (!call.isOpen) return
    call.isOpen = false
    this.#host.open.closed()
  }

  giveUp(): void {
    for (const calls of this.#calls.values()) for (const call of calls.values()) this.#closed(call)
  }

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

  take(number: number, node: string): AheadCall | undefined {
    const calls = this.#calls.get(number)
    const call = calls?.get(node)
    if (call === undefined) return undefined
    calls?.delete(node)
    this.#size--
    return call
  }

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
    return failedAnswer(error)
  }
}

function hasAll(message: Message, { call }: SensorNode): boolean {
  return call.ahead?.every((key) => ownValue(message, key) !== undefined) === true
}
