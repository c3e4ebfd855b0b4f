/** Wraps the test plugs for the engine, around the same functions that the model calls. */
import { definePlug } from '../../../src/core/plug/define.ts'
import type { InputField, Plug, PlugAnswer, PlugContext } from '../../../src/core/plug/plug.ts'
import { type Call, LATER, TEST_PLUGS } from './test-plugs.ts'

const INPUT: Readonly<Record<string, InputField>> = {
  key: { type: 'string' },
  limit: { type: 'double' },
  ms: { type: 'double' },
  step: { type: 'integer' },
  failIn: { type: 'integer' },
  faces: { type: 'array' },
  from: { type: 'any' },
  source: { type: 'string' },
  of: { type: 'any' },
}

/** Stores calls that wait for a `settle` step. Ids of executions end in increasing numbers, even across a restart. */
export class OpenCalls {
  #open: { label: string; id: string; signal: AbortSignal; answer: (state: string | undefined) => void }[] = []

  wait(label: string, kind: Plug['kind'], context: PlugContext): Promise<PlugAnswer> {
    return new Promise((resolve, reject) => {
      const answer = (state: string | undefined): void => {
        if (state === undefined) reject(new Error('refused'))
        else resolve(kind === 'sensor' ? state : { message: state })
      }
      this.#open.push({ label, id: context.id, signal: context.signal, answer })
    })
  }

  /** Settles the oldest open execution of a node. */
  settle(label: string, state: string | undefined): void {
    this.#open = this.#open.filter((call) => !call.signal.aborted)
    const ofNode = this.#open.filter((call) => call.label === label)
    const oldest = ofNode.toSorted((a, b) => byNumbers(a.id, b.id))[0]
    this.#open = this.#open.filter((call) => call !== oldest)
    oldest?.answer(state)
  }
}

function byNumbers(a: string, b: string): number {
  const [left, right] = [a, b].map((id) => id.split('/').map(Number))
  const place = (left ?? []).findIndex((n, i) => !Number.isNaN(n) && n !== right?.[i])
  return (left?.[place] ?? 0) - (right?.[place] ?? 0)
}

/** A call that reads only message values, so that a row can make it. */
function littleOf(context: PlugContext): Call {
  const stream = {
    get x() {
      return context.streamValue('x')
    },
    get y() {
      return context.streamValue('y')
    },
  }
  const { properties } = context
  const isNewOf = (): boolean => false
  return { isNewOf, label: '', properties, stream, news: {}, internalState: undefined, now: 0, attempt: 0 }
}

/**
 * `onCall`: receives every call before its result. `calls`: how often each execution has called its plug.
 * `looksAtLittle`: plugs read only message values.
 */
export function asPlugs(
  open: OpenCalls,
  onCall: (call: Call, context: PlugContext) => void = () => undefined,
  calls: Map<string, number> = new Map(),
  looksAtLittle = false,
): Plug[] {
  return Object.entries(TEST_PLUGS).map(([name, plug]) =>
    definePlug({
      name,
      version: '1.0.0',
      kind: plug.kind,
      ...(plug.kind === 'sensor' ? { states: plug.states } : {}),
      input: INPUT,
      openOutput: true,
      ...(plug.waitsFor && { parameters: (properties) => [plug.waitsFor?.(properties) ?? ''] }),
      execute(context) {
        if (looksAtLittle) return plug.behave(littleOf(context)) as PlugAnswer
        const { streamData: stream, internalState, now } = context
        for (const key of ['x', 'y']) {
          if (!Object.is(context.streamValue(key), stream[key])) throw new Error(`two answers for ${key}`)
        }
        const attempt = calls.get(context.id) ?? 0
        calls.set(context.id, attempt + 1)
        const { properties, node } = context
        const own = ['x', 'y'].filter((key) => context.isNew(key)).map((key) => [key, stream[key]])
        const news = Object.fromEntries(own) as Call['news']
        const isNewOf = (label: string): boolean => context.isNewOf(label)
        const call: Call = { label: node.NAME, properties, stream, news, isNewOf, internalState, now, attempt }
        onCall(call, context)
        const answer = plug.behave(call)
        return answer === LATER ? open.wait(call.label, plug.kind, context) : answer
      },
    }),
  )
}
