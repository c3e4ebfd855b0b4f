import { describe, expect, it } from 'vitest'
import { predictPlug } from '../../plugins/predict/plug.ts'
import type { ModelPort } from '../../src/core/plug/services.ts'
import { checkPlug, runPlugLater } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

const saying = (prediction: unknown): ModelPort => ({
  predict: () => Promise.resolve(prediction),
  classify: () => Promise.resolve([]),
})
const run = (prediction: unknown, properties: Readonly<Record<string, unknown>>) =>
  runPlugLater(predictPlug(saying(prediction)), { properties: { model: 'm', features: [1], ...properties } })

describe('predict', () => {
  it.each([
    [0.5, {}, 'Normal'],
    [0.9, { anomalyAbove: 0.8 }, 'Anomaly'],
    [0.8, { anomalyAbove: 0.8 }, 'Normal'],
    [0.99, { anomalyAbove: 0.8, errorAbove: 0.95 }, 'Error'],
    [-1, { anomalyBelow: 0 }, 'Anomaly'],
    [-1, { anomalyBelow: 0, errorBelow: -0.5 }, 'Error'],
    [0.99, { errorAbove: 0.95 }, 'Error'],
  ])('%j with %j returns %s', async (prediction, limits, state) => {
    expect(await run(prediction, limits)).toMatchObject({
      state,
      rawData: { score: prediction, prediction, model: 'm' },
    })
  })

  it.each([
    [[[3]], undefined, 3],
    [[0.2, 0.7], '1', 0.7],
    [{ score: [4] }, 'score', 4],
  ])('reads the score of %j at %s', async (prediction, output, score) => {
    expect(await run(prediction, output === undefined ? {} : { output })).toMatchObject({ rawData: { score } })
  })

  it.each([
    [[0.2, 0.7], undefined, /select a number with output/],
    ['hot', undefined, /the model returned "hot"/],
    [[0.2, 0.7], '5', /output 5 is not a number/],
  ])('fails for %j', async (prediction, output, message) => {
    await expect(run(prediction, output === undefined ? {} : { output })).rejects.toThrow(message)
  })

  it('passes features, also by name, or the newest samples of metrics', async () => {
    const { models, data, asked } = plugServices()
    const plug = predictPlug(models, data)
    const ask = (properties: Readonly<Record<string, unknown>>) =>
      runPlugLater(plug, { properties: { model: 'm', output: '1', ...properties }, taskResource: 'boiler-1' })
    expect(await ask({ features: [1, 2] })).toMatchObject({ rawData: { score: 0.75 } })
    await ask({ features: { heat: 1 }, probabilities: true })
    await ask({ metrics: ['temperature'] })
    expect(asked.filter(({ call }) => call === 'predict').map((one) => one.with[0])).toEqual([
      { model: 'm', features: [1, 2], probabilities: false },
      { model: 'm', features: { heat: 1 }, probabilities: true },
      { model: 'm', features: [21], probabilities: false },
    ])
    await expect(ask({ metrics: ['pressure'] })).rejects.toThrow('the metric pressure')
    await expect(ask({})).rejects.toThrow('use a list of values')
  })

  it('reports which thresholds exclude each other, and that the host has no models', async () => {
    const both = {
      model: 'm',
      features: [1],

      anomalyAbove: 2,
      errorAbove: 1,
      anomalyBelow: 0,
      errorBelow: 1,
    }
    const problems = checkPlug(predictPlug(), both)
    expect(problems).toHaveLength(2)
    expect(problems.join()).toMatch(/errorBelow is 1.*errorAbove is 1/)
    expect(checkPlug(predictPlug(), { model: 'm', features: [1] })).toEqual([])
    await expect(runPlugLater(predictPlug(), { properties: { model: 'm', features: [1] } })).rejects.toThrow(
      'the service models is missing',
    )
  })
})
