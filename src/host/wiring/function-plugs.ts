/** Makes deployed functions available as plugs: declared by manifests, called in processes. */
import { AppError, isPlainObject } from '#kernel'
import { definePlug, type Plug, type PlugContext } from '#plug'
import type { DeclaredProperty, DeployedPlug, InternalFunctions } from '#services/functions/contract'
import type { PlugCallParams } from '#services/functions'

type CallPlug = Pick<InternalFunctions, 'call'>

/** Returns a promise, so that the durable runner records its result, which a replay reuses. */
export function functionPlug(deployed: DeployedPlug, service: () => CallPlug | undefined): Plug {
  const { name, version, kind, description, category, states, input, output } = deployed
  return definePlug({
    name,
    version,
    kind,
    ...(description !== undefined && { description }),
    category: category ?? 'Functions',
    ...(kind === 'sensor' && { states }),
    input: Object.fromEntries(input.map((one) => [one.name, fieldOf(one)])),
    output: Object.fromEntries(output.map((one): readonly [string, Plug['output'][string]] => [one.name, typeOf(one)])),
    openOutput: true,
    async execute(context) {
      const functions = service()
      if (functions === undefined) throw new AppError('PLUG_FAILED', 'functions are not served by this host')
      const { signal } = context
      const answer = await functions.call(name, version, paramsOf(context), { signal })
      return resultOf(answer)
    },
  })
}

function fieldOf(declared: DeclaredProperty): Plug['input'][string] {
  const { mandatory, defaultValue, format, description } = declared
  return {
    ...typeOf(declared),
    ...(mandatory !== undefined && { mandatory }),
    ...(defaultValue !== undefined && { defaultValue }),
    ...(format && { format }),
    ...(description !== undefined && { description }),
  }
}

/** Maps a declared type to a plug's type. Manifests of the platform use `object` for lists too. */
function typeOf({ dataType = 'any' }: Pick<DeclaredProperty, 'dataType'>): Plug['output'][string] {
  return { type: dataType === 'object' ? 'json' : dataType }
}

function paramsOf(context: PlugContext): PlugCallParams {
  const { streamData, properties, rawData, actuatorData, internalState, task, node, globalSettings, now, id, hops } =
    context
  const names = Object.keys(streamData)
  const times = ['', ...names].flatMap((name) => {
    const time = context.streamTime(name === '' ? undefined : name)
    return time === undefined ? [] : [[name, time] as const]
  })
  return {
    properties,
    streamData,
    news: names.filter((name) => context.isNew(name)),
    newNodes: Object.keys(rawData).filter((label) => context.isNewOf(label)),
    times: Object.fromEntries(times),
    rawData,
    actuatorData,
    ...(internalState !== undefined && { internalState }),
    task,
    node,
    globalSettings,
    now,
    id,
    hops,
    random: 1 + Math.floor(context.random() * 2_147_483_645),
  }
}

function resultOf(answer: unknown): Exclude<ReturnType<Plug['execute']>, PromiseLike<unknown>> {
  if (answer === null || answer === undefined || typeof answer === 'string') return answer ?? undefined
  if (isPlainObject(answer)) return answer
  throw new AppError('PLUG_FAILED', 'it returned neither a state nor an object')
}
