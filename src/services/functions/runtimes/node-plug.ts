/** Runs a plug in JavaScript, written for the library (`definePlug` of `reflexarc`) or for the original platform. */
import { registerHooks } from 'node:module'
import { definePlug } from '../../../core/plug/define.ts'
import { messageNumber, messageText } from '../../../core/plug/message-values.ts'
import type { Plug, PlugContext, PlugDefinition } from '../../../core/plug/plug.ts'
import { AppError } from '../../../kernel/errors.ts'
import { fetchByHost, type HostSide } from './host-fetch.ts'
import type { PlugCallParams, PlugDeclaration } from './plug-call.ts'
import { callSendPlug, isSendPlug, scriptOf, UTILITIES } from './send-plug.ts'

export { AppError, definePlug }
export { getCacheData, getProperty, getRawData, getResource, getStreamData } from './send-plug.ts'

interface CallSide {
  readonly signal: AbortSignal
}

/** Imports that resolve to this module. */
const PROVIDED: ReadonlySet<string> = new Set(['reflexarc', UTILITIES])

/** Starts the plug; called once by the process. `module`: absolute path. */
export async function start(
  { module, env = {} }: { readonly module: string; readonly env?: Readonly<Record<string, string>> },
  host: HostSide,
): Promise<(method: string, params: unknown, call: CallSide) => unknown> {
  const self = import.meta.url
  registerHooks({
    resolve: (specifier, context, next) =>
      PROVIDED.has(specifier) ? { url: self, shortCircuit: true } : next(specifier, context),
  })
  Object.assign(process.env, env)
  globalThis.fetch = (input, init) => fetchByHost(host, input, init)
  const script = scriptOf(module)
  const loaded = script === undefined ? ((await import(module)) as Readonly<Record<string, unknown>>) : {}
  const sending = script ?? loaded['default']
  if (isSendPlug(sending)) {
    return (method, params) => (method === 'declare' ? {} : callSendPlug(sending, params as PlugCallParams))
  }
  const plug = plugOf(loaded)
  // prepared for each call, since constant properties are unknown here
  return (method, params, call) => {
    if (method === 'declare') return declarationOf(plug)
    return plug.execute(contextOf(plug, params as PlugCallParams, host, call))
  }
}

function plugOf(loaded: Readonly<Record<string, unknown>>): Plug {
  const found = [loaded['default'], ...Object.values(loaded)].filter(isPlug)
  const distinct = [...new Set(found)]
  const [first] = isPlug(loaded['default']) ? [loaded['default']] : distinct
  if (first === undefined) throw new Error(`it exports no plug: write export default definePlug({ ... })`)
  if (first !== loaded['default'] && distinct.length > 1)
    throw new Error('it exports several plugs, none of them as the default')
  return first
}

function isPlug(value: unknown): value is Plug {
  const { execute, kind } = (value ?? {}) as Partial<PlugDefinition>
  return typeof execute === 'function' && (kind === 'sensor' || kind === 'actuator')
}

function declarationOf({ name, version, kind, states, input }: Plug): PlugDeclaration {
  return { name, version, type: kind, states: [...states], input: Object.keys(input) }
}

function contextOf(plug: Plug, params: PlugCallParams, host: HostSide, call: CallSide): PlugContext {
  const { news, newNodes, times, random, ...shared } = params
  const { streamData, rawData: nodes, task, node, globalSettings: globals } = shared
  const fresh = new Set(news)
  let seed = random
  const roots: Readonly<Record<string, unknown>> = { streamdata: streamData, nodes, task, node, globals }
  const log = (level: string) => (message: string) => host.log(level, message)
  const reading = { streamData, streamValue: (key: string) => ownValue(streamData, key) }
  return {
    ...shared,
    ...reading,
    number: (name, options) => messageNumber(reading, name, options),
    text: (name) => messageText(reading, name),
    internalState: shared.internalState,
    prepared: plug.prepare?.(shared.properties),
    late: [],
    streamTime: (key) => ownValue(times, key ?? '') as number | undefined,
    isNew: (key) => fresh.has(key),
    isNewOf: (label) => newNodes.includes(label),
    lookup: (path) => path.reduce<unknown>((at, key) => ownValue(at, key), roots),
    random: () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647,
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    get signal() {
      return call.signal
    },
  }
}

function ownValue(container: unknown, key: string): unknown {
  return typeof container === 'object' && container !== null && Object.hasOwn(container, key)
    ? (container as Readonly<Record<string, unknown>>)[key]
    : undefined
}
