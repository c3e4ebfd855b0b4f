import { describe, expect, it } from 'vitest'
import type { Rule } from '../../../../src/index.ts'
import { Ground, ref, runnableOf, TENANT } from './support/lives.ts'

const LEVEL: Rule = {
  sensors: [{ label: 'level', name: 'level', version: '1.0.0', resource: '$', position: [0, 0] }],
  actuators: [{ label: 'send', name: 'send', version: '1.0.0' }],
  triggers: [{ sourceLabel: 'level', destinationLabel: 'send', statesTrigger: ['HIGH'], invocationPolicy: 0 }],
  task: { type: 'reactive' },
}
const watch = (id: string, rule: Rule = LEVEL) => runnableOf(id, rule, { resource: 'boiler' })

describe('what was acknowledged', () => {
  it('is there after a crash, though no state was stored', async () => {
    const ground = new Ground()
    const before = ground.open({ checkpointMs: 1e9 })
    await before.begin(watch('a'))
    expect(await before.send('boiler', { level: 12 })).toBe(true)
    await before.rest()
    const seen = before.look('a')
    await before.crash()
    const after = ground.open()
    await after.runner.resume([watch('a')])
    await after.rest()
    expect(after.look('a')).toEqual(seen)
    expect(after.look('a')).toMatchObject({ info: { status: 'running', invocationCount: 1 } })
    expect(ground.outside.calls).toEqual(['a/1/2/0'])
  })

  it('is there after a crash, when states were stored', async () => {
    const ground = new Ground()
    const before = ground.open({ checkpointMs: 10 })
    await before.begin(watch('a'))
    await before.send('boiler', { level: 12 })
    await before.to(100)
    await before.send('boiler', { level: 3 })
    await before.rest()
    const seen = before.look('a')
    await before.crash()
    const after = ground.open({ at: 100 })
    await after.runner.resume([watch('a')])
    expect(after.look('a')).toEqual(seen)
    expect(ground.outside.calls).toEqual(['a/1/2/0'])
  })

  it('is nothing when no running task takes it', async () => {
    const life = new Ground().open()
    expect(await life.send('boiler', { level: 12 })).toBe(false)
    await life.begin(watch('a'))
    expect(await life.send('other', { level: 12 })).toBe(false)
    expect(await life.send('boiler', { level: 12 })).toBe(true)
    await life.end('a')
    expect(await life.send('boiler', { level: 12 })).toBe(false)
    expect(life.runner.nodes.info(ref('a'))?.status).toBe('stopped')
    expect(await life.storage.tenant(TENANT).log('rule_inputs').bounds(0)).toMatchObject({ last: 5 })
  })
})
