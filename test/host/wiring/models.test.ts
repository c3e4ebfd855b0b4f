/** Tests what sensors of rules receive from hosted models. */
import { describe, expect, it } from 'vitest'
import { modelPort } from '../../../src/host/wiring/models.ts'
import type { ModelsApi, InternalModels } from '../../../src/services/models/contract.ts'

function port(api: Partial<ModelsApi>, endpoints: readonly string[] = ['predict']) {
  const asked: unknown[] = []
  const get = () => Promise.resolve({ supported_endpoints: endpoints })
  const service = {
    as: (caller: unknown) => {
      asked.push(caller)
      return { get, ...api }
    },
  } as unknown as InternalModels
  return { port: modelPort('acme', () => service), asked }
}
const ASKED = { model: 'm', features: [1] }
const predicting = (prediction: never) => port({ predict: () => Promise.resolve({ predictions: [prediction] }) }).port

describe('calls of models by rules', () => {
  it('is asked as the engine, for the tenant', async () => {
    const bodies: unknown[] = []
    const predict = (...given: unknown[]) => {
      bodies.push(given)
      return Promise.resolve({ predictions: [0.5] })
    }
    const { port: models, asked } = port({ predict })
    expect(await models.predict(ASKED)).toBe(0.5)
    expect(await models.predict({ ...ASKED, probabilities: true })).toBe(0.5)
    expect(asked[0]).toEqual({ tenant: 'acme', user: 'system/engine' })
    expect(bodies).toEqual([
      ['m', { instances: [[1]] }],
      ['m', { instances: [[1]], probabilities: true }],
    ])
  })

  it.each([
    [2, [['2', 1]]],
    ['hot', [['hot', 1]]],
    [
      [0.2, 0.8],
      [
        ['1', 0.8],
        ['0', 0.2],
      ],
    ],
  ])('makes classes of the prediction %j', async (prediction, labels) => {
    expect(await predicting(prediction as never).classify(ASKED)).toEqual(labels)
  })

  it('takes the classes of a model that has some, the highest score first', async () => {
    const result = [
      [
        ['cold', 0.1],
        ['hot', 0.9],
      ],
    ] as const
    const { port: models } = port({ classify: () => Promise.resolve({ result }) }, ['predict', 'classify'])
    expect(await models.classify(ASKED)).toEqual([
      ['hot', 0.9],
      ['cold', 0.1],
    ])
  })

  it('reports when this host has no models, and when an answer has no class', async () => {
    await expect(modelPort('acme', () => undefined).predict(ASKED)).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(predicting([['x']] as never).classify(ASKED)).rejects.toThrow('instead of a probability')
  })
})
