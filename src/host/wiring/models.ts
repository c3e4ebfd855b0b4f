/** Lets plugs use hosted models. Calls made in one turn form one batch if the model supports batches. */
import type { ModelPort } from '#core'
import { AppError, type Json, type JsonObject } from '#kernel'
import type { ModelsApi, InternalModels } from '#services/models/contract'

const ENGINE = 'system/engine'

type Asked = Parameters<ModelPort['predict']>[0]

export function modelPort(tenant: string, models: () => InternalModels | undefined): ModelPort {
  const apiOf = (): ModelsApi => {
    const service = models()
    if (service === undefined) throw new AppError('CLOSED', 'this host does not serve models')
    return service.as({ tenant, user: ENGINE })
  }
  const predict = async ({ model, features, probabilities }: Asked): Promise<Json> => {
    const body = { instances: [features], ...(probabilities === true && { probabilities }) }
    const answer = await apiOf().predict(model, body)
    return ('predictions' in answer ? answer.predictions[0] : undefined) ?? null
  }
  return {
    predict,
    classify: async (asked) => {
      const api = apiOf()
      const { supported_endpoints: endpoints } = await api.get(asked.model)
      if (!endpoints.includes('classify')) return labelsOf(await predict(asked))
      const { result } = await api.classify(asked.model, { examples: [asked.features as JsonObject] })
      return sorted(result[0] ?? [])
    },
  }
}

export function labelsOf(prediction: Json): readonly (readonly [string, number])[] {
  if (!Array.isArray(prediction)) {
    return [[typeof prediction === 'string' ? prediction : JSON.stringify(prediction), 1]]
  }
  return sorted(
    (prediction as readonly Json[]).map((score, at) => {
      if (typeof score === 'number') return [String(at), score]
      throw new AppError(
        'PLUG_FAILED',
        `the model returned ${JSON.stringify(score).slice(0, 100)} instead of a probability`,
      )
    }),
  )
}

function sorted(labels: readonly (readonly [string, number])[]): readonly (readonly [string, number])[] {
  return labels.toSorted(([, a], [, b]) => b - a)
}
