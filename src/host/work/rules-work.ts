/** Performs rule work in a thread: runs, calls and checks, with an input and the services of the sending thread. */
import { createRegistry, type DataPort, type PlugServices, type Ports, type Template } from '#core'
import type { Interpreter } from '#core/sandbox'
import type { PlainObject } from '#core/spi'
import { AppError, isoInstant, messageOf } from '#kernel'
import type { Plug } from '#plug'
import { generatorHere } from '#platform/generate'
import { createBuiltins } from '#plugins'
import type { InternalFunctions } from '#services/functions/contract'
import { type DirectRuns, historyBehind, type RehearsedCalls, runsHere } from '#services/rules/runs'
import { readModule } from '../plug-modules.ts'
import { nodeTransport } from '../transport/node-transport.ts'
import { functionPlug } from '../wiring/function-plugs.ts'
import type { CallingThread, RulesContext, RulesWork } from './work-inputs.ts'
import type { WorkThreadData } from './work-messages.ts'

/** Returns handlers by name. `interpreter`: runs this thread's scripts. */
export function rulesWork({ allowUrl }: WorkThreadData, interpreter: Interpreter): RulesWork {
  const transport = nodeTransport({ allow: allowUrl })
  const generate = generatorHere()
  /** `calls`: present in a rehearsal */
  const runs = async (context: RulesContext, ask: CallingThread, calls?: RehearsedCalls): Promise<DirectRuns> => {
    const { now, functions, plugModules } = context
    const behind =
      calls === undefined ? ask : calls.areMade ? counted(ask, calls.current) : uncalled(ask, calls.notMade)
    const outbound = { transport: calls === undefined ? transport : rehearsedTransport(transport, calls) }
    const services = servicesBehind(context, behind)
    const builtins = createBuiltins({
      interpreter,
      outbound,
      services: calls === undefined ? services : past(services),
    })
    const deployed = functions.map((one) => functionPlug(one, () => functionsBehind(behind)))
    return runsHere({
      registry: createRegistry([...builtins, ...(await plugsOf(plugModules, ask)), ...deployed]),
      ports: portsBehind(context, ask),
      now: () => now,
      generate,
      ...(calls && { calls }),
    })
  }
  return {
    simulate: async ({ input, ...context }, ask) => {
      const stored = (name: string): Promise<Template> => ask.later('templates', 'get', [name]) as Promise<Template>
      return new TextEncoder().encode(JSON.stringify(await (await runs(context, ask)).simulate(stored, input)))
    },
    rehearse: async ({ work, keepsInputs, ...context }, ask, signal) => {
      const calls = { areMade: work.calls === 'live', notMade: new Map(), current: new Map() }
      const direct = await runs(context, ask, calls)
      const history = historyBehind((method, args) => ask.later('history', method, args), keepsInputs)
      return direct.rehearse(work, history, signal)
    },
    run: async ({ stored, input, options, ...context }, ask, signal) => {
      for await (const report of (await runs(context, ask)).run(stored, input, { ...options, signal })) {
        await ask.later('reports', 'put', [report])
      }
    },
    call: async ({ family, name, version, input, cause, ...context }, ask) =>
      (await runs(context, ask)).call(family, name, version, input, cause),
    check: async ({ specification, options, ...context }, ask) =>
      (await runs(context, ask)).check(specification, options),
    variables: async ({ graph }, ask) => (await runs(NOTHING, ask)).variables(graph),
    schedule: async ({ expression, options }, ask) => (await runs(NOTHING, ask)).nextRuns(expression, options),
  }
}

function past({ data, ...services }: PlugServices): PlugServices {
  return { ...services, ...(data && { data: pastData(data) }) }
}

/** Counts calls of services instead of making them; checks are still answered. */
function uncalled(ask: CallingThread, notMade: Map<string, number>): CallingThread {
  return {
    later: async (port, method) => refuseCall(`${port}.${method}`, notMade),
    atOnce: (port, method, args) => ask.atOnce(port, method, args),
  }
}

/** Reads of the past, which `pastData` and queries answer as of the time of the input. */
const OF_THE_PAST: ReadonlySet<string> = new Set(['data.latest', 'data.messages', 'data.series', 'queries.execute'])

/** Counts calls that are answered with current data, whatever the time of the input. */
function counted(ask: CallingThread, current: Map<string, number>): CallingThread {
  return {
    later: (port, method, args, signal) => {
      const call = `${port}.${method}`
      if (!OF_THE_PAST.has(call)) count(current, call)
      return ask.later(port, method, args, signal)
    },
    atOnce: (port, method, args) => ask.atOnce(port, method, args),
  }
}

function rehearsedTransport(
  transport: ReturnType<typeof nodeTransport>,
  { areMade, notMade, current }: RehearsedCalls,
): ReturnType<typeof nodeTransport> {
  if (!areMade) {
    const request = async (): Promise<never> => refuseCall(OUTBOUND, notMade)
    return { resolve: request, send: request }
  }
  return {
    ...transport,
    send: (...given) => {
      count(current, OUTBOUND)
      return transport.send(...given)
    },
  }
}

const OUTBOUND = 'outbound.request'

function count(calls: Map<string, number>, call: string): void {
  calls.set(call, (calls.get(call) ?? 0) + 1)
}

function refuseCall(call: string, notMade: Map<string, number>): never {
  count(notMade, call)
  throw new AppError('PLUG_FAILED', `${call} is not called in a rehearsal; set "calls": "live" to call it`)
}

const NOTHING: RulesContext = { tenant: '', now: 0, services: {}, ports: [], functions: [], plugModules: [] }

/** Loads the operator's plugs, each only once. Throws `UNAVAILABLE` when a module fails to load in this thread. */
async function plugsOf(modules: readonly string[], ask: CallingThread): Promise<ReadonlySet<Plug>> {
  try {
    const loaded = await Promise.all(modules.map((address) => readModule(address)))
    return new Set(loaded.flatMap(({ plugs }) => plugs))
  } catch (error) {
    await ask.later('plugs', 'failed', [messageOf(error)])
    throw new AppError('UNAVAILABLE', 'The plugs of this host moved to another thread; retry')
  }
}

/** Forwards port calls of plugs to the sending thread; synchronous checks block until the reply. */
function servicesBehind({ services }: RulesContext, ask: CallingThread): PlugServices {
  const ports = Object.entries(services).map(([port, methods]) => {
    const own = methods.map((method): readonly [string, unknown] => [
      method,
      (...given: readonly unknown[]) => {
        if (method.startsWith('check')) return ask.atOnce(port, method, given)
        const signal = given.find((one) => one instanceof AbortSignal)
        return ask.later(
          port,
          method,
          given.filter((one) => one !== signal),
          signal,
        )
      },
    ])
    return [port, Object.fromEntries(own)] as const
  })
  return Object.fromEntries(ports) as PlugServices
}

function portsBehind({ ports }: RulesContext, ask: CallingThread): Ports {
  return Object.fromEntries(
    ports.map((method) => [method, (...given: readonly unknown[]) => ask.later('engine', method, given)]),
  ) as Ports
}

function functionsBehind(ask: CallingThread): Pick<InternalFunctions, 'call'> {
  return {
    call: (name, version, params, { signal }) => ask.later('functions', 'call', [name, version, params], signal),
  }
}

/** number of messages that a host keeps of a resource */
const KEPT_MESSAGES = 100

/** Answers reads of stored data as of the time of a rehearsed input, so that later data is invisible. */
export function pastData(data: DataPort): DataPort {
  return {
    ...data,
    latest: async (resource, now = Infinity) => {
      const newest = await data.latest(resource, now)
      const past = await Promise.all(
        newest.map(async (sample) => {
          if (sample.time <= now) return [sample]
          const { metric } = sample
          const query = { metric, resources: [resource], until: now, order: 'descending', limit: 1 }
          const { series } = await data.series(query, now)
          const rows = (Array.isArray(series) ? series : []) as readonly (readonly [time: number, value: unknown])[]
          return rows.map(([time, value]) => ({ metric, time, value }))
        }),
      )
      return past.flat()
    },
    series: (query, now = Infinity) => data.series({ ...query, until: earlier(query['until'], now) }, now),
    messages: async (resource, limit, now = Infinity) => {
      const kept = await data.messages(resource, KEPT_MESSAGES, now)
      return kept.filter((message) => timeOf(message) <= now).slice(0, limit)
    },
  }
}

function earlier(until: unknown, now: number): unknown {
  const time = typeof until === 'string' ? isoInstant(until) : until
  return typeof time === 'number' && time <= now ? until : now
}

function timeOf({ timestamp }: PlainObject): number {
  return typeof timestamp === 'string' ? isoInstant(timestamp) : Number(timestamp)
}
