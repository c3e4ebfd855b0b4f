/** Reads the input of a model: given features, or the newest samples of metrics. */
import { AppError, type DataPort, isPlainObject, type PlugContext, requireService, resourceOf } from '#plug'

export const FEATURE_INPUT = {
  model: { type: 'string', mandatory: true, description: 'the name of the model', example: 'boiler-anomaly' },
  features: {
    type: 'any',
    description: 'features: a list in the order of the model, or an object by name',
    example: ['${streamdata.temperature}', 3.5],
  },
  metrics: {
    type: 'array',
    description: 'default of features: the newest stored values of these metrics, in order',
    example: ['temperature', 'pressure'],
  },
  resource: {
    type: 'string',
    format: { type: 'resource' },
    description: 'resource of the metrics; default: that of the node or task',
    example: 'boiler-1',
  },
  probabilities: {
    type: 'boolean',
    defaultValue: false,
    description: 'for scikit-learn: class probabilities instead of the class',
    example: true,
  },
} as const

interface Wanted {
  readonly features?: unknown
  readonly metrics?: readonly unknown[] | undefined
  readonly resource?: string | undefined
}

export async function featuresOf(
  context: Pick<PlugContext<Wanted>, 'properties' | 'node' | 'task' | 'lookup' | 'now'>,
  data: DataPort | undefined,
): Promise<readonly unknown[] | Readonly<Record<string, unknown>>> {
  const { features, metrics } = context.properties
  if (features === undefined && metrics !== undefined) {
    return newestOf(metrics, await requireService(data, 'data').latest(resourceOf(context), context.now))
  }
  if (Array.isArray(features)) return features as readonly unknown[]
  if (isPlainObject(features)) return features
  if (typeof features === 'number') return [features]
  throw new AppError(
    'PLUG_FAILED',
    'features is not a list or an object; use a list of values, an object by name, or metrics',
  )
}

function newestOf(
  metrics: readonly unknown[],
  newest: readonly { readonly metric: string; readonly value: unknown }[],
): readonly unknown[] {
  const byName = new Map(newest.map(({ metric, value }) => [metric, value]))
  return metrics.map((metric) => {
    const value = byName.get(String(metric))
    if (value === undefined)
      throw new AppError('PLUG_FAILED', `the metric ${String(metric)} does not have a stored value`)
    return value
  })
}
