import { describe, expect, it } from 'vitest'
import { classifyPlug } from '../../plugins/classify/plug.ts'
import type { ModelPort } from '../../src/core/plug/services.ts'
import { runPlugLater } from '../support/plug-context.ts'

type Labels = Awaited<ReturnType<ModelPort['classify']>>
const run = (labels: Labels, properties: Readonly<Record<string, unknown>>) => {
  const models: ModelPort = { predict: () => Promise.resolve(0), classify: () => Promise.resolve(labels) }
  return runPlugLater(classifyPlug(models), { properties: { model: 'm', features: [1], ...properties } })
}
const HOT: Labels = [
  ['hot', 0.7],
  ['cold', 0.3],
]

describe('classify', () => {
  it.each([
    [{ labels: ['hot'] }, 'Match'],
    [{ labels: 'cold, warm' }, 'No Match'],
    [{ labels: 'cold, hot' }, 'Match'],
    [{ labels: ['hot'], minimum: 0.8 }, 'Uncertain'],
    [{ labels: ['hot'], minimum: 0.7 }, 'Match'],
  ])('with %j is %s', async (properties, state) => {
    expect(await run(HOT, properties)).toMatchObject({ state, rawData: { label: 'hot', score: 0.7, labels: HOT } })
  })

  it('accepts numeric class names', async () => {
    const names = ['cold', 'hot']
    expect(await run([['1', 1]], { labels: ['hot'], names })).toMatchObject({
      state: 'Match',
      rawData: { label: 'hot' },
    })
    expect(await run([['7', 1]], { labels: ['hot'], names })).toMatchObject({
      state: 'No Match',
      rawData: { label: '7' },
    })
  })
})
