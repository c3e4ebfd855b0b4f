/** What a model is asked about: features that a node is given, or the newest samples of metrics. */
import { AppError, type DataPort, isPlainObject, type PlugContext, requireService, resourceOf } from '#plug'

/** Properties of sensors that ask a model. */
export const FEATURE_INPUT = {
  model: { type: 'string', mandatory: true, description: 'the name of the model', example: 'boiler-anomaly' },
  features: {
    type: 'any',
    description: 'its features: a list in the order of the model, or an object by name',
    example: ['${streamdata.temperature}', 3.5],
  },
  metrics: {
    type: 'array',
    description: 'where no features are given: metrics whose newest stored values they are, in this order',
    example: ['temperature', 'pressure'],
  },
  resource: {
    type: 'string',
    format: { type: 'resource' },
    description: 'whose metrics; that of the node or task when left out',
    example: 'boiler-1',
  },
  probabilities: {
    type: 'boolean',
    defaultValue: false,
    description: 'of a model of scikit-learn: probabilities of its classes in the place of the class',
    example: true,
  },
} as const

interface Wanted {
  readonly features?: unknown
  readonly metrics?: readonly unknown[] | undefined
  readonly resource?: string | undefined
}

/** `PLUG_FAILED` when a value is missing: the text says which. */
export async function featuresOf(
  context: Pick<PlugContext<Wanted>, 'properties' | 'node' | 'task' | 'lookup'>,
  data: DataPort | undefined,
): Promise<readonly unknown[] | Readonly<Record<string, unknown>>> {
  const { features, metrics } = context.properties
  if (features === undefined && metrics !== undefined) {
    return newestOf(metrics, await requireService(data, 'data').latest(resourceOf(context)))
  }
  if (Array.isArray(features)) return features as readonly unknown[]
  if (isPlainObject(features)) return features
  if (typeof features === 'number') return [features]
  throw new AppError('PLUG_FAILED', 'features is a list of values, or an object of them by name; or name metrics')
}

function newestOf(
  metrics: readonly unknown[],
  newest: readonly { readonly metric: string; readonly value: unknown }[],
): readonly unknown[] {
  const byName = new Map(newest.map(({ metric, value }) => [metric, value]))
  return metrics.map((metric) => {
    const value = byName.get(String(metric))
    if (value === undefined) throw new AppError('PLUG_FAILED', `nothing is stored of the metric ${String(metric)}`)
    return value
  })
}
