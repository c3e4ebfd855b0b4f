import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { alarmOf, bench, type Bench } from './support/bench-of-alarms.ts'

const TREE: Readonly<Record<string, readonly string[]>> = {
  'pump-1': ['line-1', 'plant'],
  'pump-2': ['line-2', 'plant'],
}
const ancestors = (resource: string) => Promise.resolve(TREE[resource] ?? [])

let alarms: Bench
beforeEach(async () => {
  alarms = await bench({ ancestors })
  await alarms.api.types.put('NO_FLOW', { suppressedBy: ['NO_POWER'] })
})
afterEach(() => alarms.close())

const raise = (type: string, source: string) => alarms.api.raise(alarmOf({ type, source: { id: source } }))
const suppression = async (id: string) => (await alarms.api.get(id)).suppression

describe('an alarm whose type names a parent', () => {
  it('is suppressed by an open parent of its resource or one above it, until the parent ends', async () => {
    const parent = await raise('NO_POWER', 'line-1')
    const child = await raise('NO_FLOW', 'pump-1')
    expect(child).toMatchObject({
      suppression: 'suppressed',
      holds: [{ by: `alarm/${parent.id}`, reason: 'NO_POWER of line-1 is open' }],
    })
    expect(await raise('NO_FLOW', 'line-1')).toMatchObject({ suppression: 'suppressed' })
    expect(await raise('NO_FLOW', 'pump-2')).toMatchObject({ suppression: 'none' })
    expect(await raise('OTHER', 'pump-1')).toMatchObject({ suppression: 'none' })
    await alarms.api.update(parent.id, { status: 'CLEARED' })
    await alarms.service.idle()
    expect(await suppression(child.id)).toBe('none')
  })

  it.each(['removed', 'ended'])('is released after a restart if the parent was %s meanwhile', async (what) => {
    const parent = await raise('NO_POWER', 'plant')
    const child = await raise('NO_FLOW', 'pump-1')
    await alarms.api.types.remove('NO_FLOW')
    if (what === 'removed') await alarms.api.remove(parent.id)
    else await alarms.api.update(parent.id, { status: 'CLEARED' })
    await alarms.service.idle()
    expect(await suppression(child.id)).toBe('suppressed')
    await alarms.api.types.put('NO_FLOW', { suppressedBy: ['NO_POWER'] })
    await alarms.close()
    alarms = await bench({ storage: alarms.storage, clock: alarms.clock, ids: 'b', ancestors })
    await alarms.service.keepHouse()
    expect(await suppression(child.id)).toBe('none')
  })
})
