/**
 * Provides plugs whose results the test sets by node label. Without a set result, a node shows the state that the
 * message contains under its label, or succeeds without a state.
 */
import { definePlug } from '../../src/core/plug/define.ts'
import type { Plug, PlugAnswer, PlugContext, PlugDefinition, PlugKind } from '../../src/core/plug/plug.ts'

/** Marks a result that arrives later, with `settle` or `fail`. */
export const LATER = Symbol('later')

/** An Error is thrown; a function is called with the call's context. */
export type Said = PlugAnswer | Error | typeof LATER | ((context: PlugContext) => PlugAnswer | Promise<PlugAnswer>)

export interface SeenCall {
  node: string
  /** id of the execution */
  id: string
  /** epoch ms */
  now: number
  /** the source whose trigger ran the node */
  trigger: string | undefined
  stream: Readonly<Record<string, unknown>>
  properties: Readonly<Record<string, unknown>>
  context: PlugContext
}

interface Open {
  node: string
  settle(answer: PlugAnswer): void
  fail(error: Error): void
}

const PROPERTIES = { value: { type: 'any' }, text: { type: 'string' } } as const
const ON_OFF = ['Off', 'On']

export class ScriptedPlugs {
  readonly calls: SeenCall[] = []
  readonly #answers = new Map<string, Said[]>()
  readonly #open: Open[] = []

  /**
   * `switch`: Off, On. `band`: Below, In, Above. `dice`: ONE to SIX. `late`: Off, On, always as a promise. `act`: an
   * actuator.
   */
  readonly plugs: readonly Plug[] = [
    this.#plug('sensor', 'switch', ON_OFF),
    this.#plug('sensor', 'band', ['Below', 'In', 'Above']),
    this.#plug('sensor', 'dice', ['ONE', 'TWO', 'THREE', 'FOUR', 'FIVE', 'SIX']),
    this.#plug('sensor', 'late', ON_OFF, LATER),
    this.#plug('actuator', 'act', []),
  ]

  /** Sets the next results of a node, one per call; the last one repeats. */
  say(node: string, ...answers: readonly Said[]): void {
    this.#answers.set(node, [...answers])
  }

  /** Finishes the oldest open call of a node. */
  settle(node: string, answer: PlugAnswer): void {
    this.#take(node).settle(answer)
  }

  fail(node: string, message = 'broken'): void {
    this.#take(node).fail(new Error(message))
  }

  callsOf(node: string): readonly SeenCall[] {
    return this.calls.filter((call) => call.node === node)
  }

  openCalls(node: string): number {
    return this.#open.filter((open) => open.node === node).length
  }

  #take(node: string): Open {
    const place = this.#open.findIndex((open) => open.node === node)
    const [open] = place === -1 ? [] : this.#open.splice(place, 1)
    if (open === undefined) throw new Error(`${node} has no open call`)
    return open
  }

  #plug(kind: PlugKind, name: string, states: readonly string[], usual?: typeof LATER): Plug {
    const definition: PlugDefinition = {
      name,
      version: '1.0.0',
      kind,
      states,
      input: PROPERTIES,
      openOutput: true,
      execute: (context) => this.#execute(context, usual),
    }
    return definePlug(definition)
  }

  #execute(context: PlugContext, usual: typeof LATER | undefined): PlugAnswer | Promise<PlugAnswer> {
    const node = context.node.NAME
    const { id, now, properties, streamData: stream } = context
    this.calls.push({ node, id, now, trigger: context.node.TRIGGER, stream, properties, context })
    const said = this.#next(node, context, usual)
    if (said instanceof Error) throw said
    if (said !== LATER) return typeof said === 'function' ? said(context) : said
    return new Promise((settle, fail) => this.#open.push({ node, settle, fail }))
  }

  #next(node: string, context: PlugContext, usual: typeof LATER | undefined): Said {
    const answers = this.#answers.get(node)
    if (answers !== undefined) return answers.length > 1 ? answers.shift() : answers[0]
    const shown = context.streamValue(node)
    return typeof shown === 'string' ? shown : usual
  }
}

/** Adds `acting`, a sensor with side effects. A call touches the text in its property `text`, otherwise its node. */
export function withActing(): ScriptedPlugs {
  const scripted = new ScriptedPlugs()
  const [first] = scripted.plugs
  if (first === undefined) throw new Error('there are no scripted plugs')
  const touches: Plug['touches'] = ({ text }) => (typeof text === 'string' ? [text] : [])
  const acting: Plug = { ...first, name: 'acting', acts: true, touches }
  return Object.assign(scripted, { plugs: [...scripted.plugs, acting] })
}
