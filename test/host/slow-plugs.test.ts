/** Tests rules over slow plugs in a whole host: every message counts, and effects keep their order. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { definePlug, type Rule } from '../../src/index.ts'
import { wholeHost, type WholeHost } from './whole-host.ts'
import { testFolder } from '../support/test-folder.ts'

/** Answers after as many turns of the event loop as the message says. */
const LOOKUP = definePlug({
  name: 'lookup',
  version: '1.0.0',
  kind: 'sensor',
  states: ['LOW', 'HIGH'],
  parameters: ['temperature'],
  async execute(context) {
    const temperature = Number(context.streamValue('temperature'))
    for (let turns = (temperature * 7) % 5; turns > 0; turns--) {
      await new Promise((resolve) => void setImmediate(resolve))
    }
    return { state: temperature > 50 ? 'HIGH' : 'LOW', rawData: { temperature } }
  },
})

/** Never answers. */
const STUCK = definePlug({
  name: 'stuck',
  version: '1.0.0',
  kind: 'actuator',
  input: { text: { type: 'string' } },
  execute: () => new Promise<undefined>(() => undefined),
})

/** Opens a host in memory, or over a folder that survives the host. */
const opened = (data?: string) =>
  wholeHost(
    { ...(data !== undefined && { data }), only: 'rules,broker', empty: true, rateLimit: '0' },
    { plugs: () => [LOOKUP, STUCK] },
  )

/** Builds a rule that stores what it fired for as messages of the resource `found`. */
function keeping(sensor: object, state: string, text: string): Rule {
  return {
    sensors: [{ label: 's', name: '', resource: '$', ...sensor }],
    actuators: [{ label: 'keep', name: 'storeMessage', properties: { payload: { was: text } }, resource: 'found' }],
    triggers: [{ sourceLabel: 's', destinationLabel: 'keep', statesTrigger: [state] }],
    task: { name: 'keeping', type: 'reactive', resource: 'boiler-1', start: true },
  }
}

async function found(host: WholeHost): Promise<unknown[]> {
  const messages = await host.done<{ was: unknown }[]>('GET', '/resources/found/messages?hits=1000')
  return messages.map(({ was }) => was).reverse()
}

describe('of 50 messages, posted one after the other', () => {
  it.each([
    [
      'a query of a metric',
      { name: 'getMetricValue', properties: { metric: 'temperature', aggregate: 'count' } },
      'Collected',
    ],
    [
      'a condition behind the fence',
      { name: 'condition', properties: { condition: 'let t = temperature; return t >= 0' } },
      'True',
    ],
    ['a plug that takes its time', { name: 'lookup' }, 'LOW'],
  ])('%s sees 50', async (_fact, sensor, state) => {
    await using host = await opened()
    await host.done('POST', '/api/tasks', keeping(sensor, state, '${streamdata.temperature}'))
    for (let i = 0; i < 50; i++) await host.done('POST', '/resources/boiler-1/events', { temperature: i })
    await expect.poll(() => found(host)).toHaveLength(50)
    expect(await found(host)).toEqual(Array.from({ length: 50 }, (_, i) => i))
  })
})

describe('calls that wait for one that hangs', () => {
  it('are seen after a restart as before it', async () => {
    const folder = testFolder(onTestFinished)
    const look = async (host: WholeHost, id: string) => {
      const { health } = await host.done<{ health: unknown }>('GET', `/api/tasks/${id}?includeHealth=true`)
      const deliveries = await host.done<{ values: { id: string }[] }>('GET', `/api/tasks/${id}/deliveries`)
      const { time: _now, ...why } = await host.done<{ time: number }>('GET', `/api/tasks/${id}/explain?node=tell`)
      const node = await host.done('GET', `/api/tasks/${id}/nodes/tell`)
      // the hung call is repeated after the restart, at another time
      return { health, node, why, deliveries: deliveries.values.map((one) => ({ ...one, lastAttemptTime: undefined })) }
    }
    const rule: Rule = {
      sensors: [{ label: 's', name: 'condition', resource: '$', properties: { condition: 'temperature > 50' } }],
      actuators: [{ label: 'tell', name: 'stuck', properties: { text: '${streamdata.temperature}' } }],
      triggers: [{ sourceLabel: 's', destinationLabel: 'tell', statesTrigger: ['True'] }],
      task: { name: 'stuck', type: 'reactive', resource: 'boiler-1', start: true },
    }
    const before = await opened(folder)
    const { ID: id } = await before.done<{ ID: string }>('POST', '/api/tasks', rule)
    for (let i = 0; i < 5; i++) await before.done('POST', '/resources/boiler-1/events', { temperature: 90 + i })
    const seen = await look(before, id)
    expect(seen).toMatchObject({ health: { waiting: { inputs: 0, effects: 4 } }, deliveries: { length: 5 } })
    const listed: string[] = []
    for (let next: string | undefined = ''; next !== undefined;) {
      const query = next === '' ? '' : `&after=${encodeURIComponent(next)}`
      const page: { values: { id: string }[]; next?: string } = await before.done(
        'GET',
        `/api/tasks/${id}/deliveries?limit=2${query}`,
      )
      expect(page.values.length).toBeLessThanOrEqual(2)
      listed.push(...page.values.map((one) => one.id))
      next = page.next
    }
    expect(listed).toEqual(seen.deliveries.map((one) => one.id))
    expect(listed).toHaveLength(5)
    await before.app.close()
    const after = await opened(folder)
    expect(await look(after, id)).toEqual(seen)
    await after.app.close()
  })
})
