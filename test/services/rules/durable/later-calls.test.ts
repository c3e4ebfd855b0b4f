import { describe, expect, it } from 'vitest'
import { definePlug, type Rule } from '../../../../src/index.ts'
import { Ground, ref, runnableOf } from './support/lives.ts'

const seen = definePlug({
  name: 'seen',
  version: '1.0.0',
  kind: 'sensor',
  states: ['Seen'],
  input: { site: { type: 'string' } },
  execute: (context) => {
    const count = Number(context.internalState ?? 0) + 1
    return { state: 'Seen', internalState: count, rawData: { count, site: context.properties.site ?? 'none' } }
  },
})
const ruleOf = (properties: Record<string, string>): Rule => {
  return {
    sensors: [{ label: 'seen', name: 'seen', version: '1.0.0', resource: '$', properties }],
    task: { type: 'reactive' },
  }
}
const asking = runnableOf('asking', ruleOf({ site: '${task.resource.meta.site}' }), { resource: 'boiler' })
const plain = runnableOf('plain', ruleOf({}), { resource: 'pump' })
// nothing is stored but inputs: all of it is played again
const OPTIONS = { plugs: [seen], ports: { metadata: async () => ({ site: 'cellar' }) }, checkpointMs: 1e9 }

describe('a plug that answers at once', () => {
  it('is played again though other calls of it had to ask for something first, and those are not made twice', async () => {
    const ground = new Ground()
    const first = ground.open(OPTIONS)
    for (const task of [asking, plain]) await first.begin(task)
    await first.send('boiler', { level: 1 })
    await first.rest()
    for (const level of [1, 2, 3]) await first.send('pump', { level })
    const look = (life: typeof first) =>
      ['asking', 'plain'].map((id) => life.runner.nodes.view(ref(id), 'seen')[0]?.rawData)
    const shown = [
      { count: 1, site: 'cellar' },
      { count: 3, site: 'none' },
    ]
    expect(look(first)).toEqual(shown)
    await first.crash()
    const second = ground.open(OPTIONS)
    await second.runner.resume([asking, plain])
    expect(look(second)).toEqual(shown)
    await second.crash()
  })
})
