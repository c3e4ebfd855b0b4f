/** The rules of a whole host: what they do shows in its figures. */
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../src/host/app.ts'
import { compose } from '../../src/host/compose.ts'
import { type Given, readConfig } from '../../src/host/config.ts'
import { makeRules } from '../../src/host/wiring/make-rules.ts'
import { basic } from './sample-host.ts'

const AS = { authorization: basic('a', 's') }

async function rulesHost(given: Given = {}): Promise<FastifyInstance> {
  const services = new Map([['rules', makeRules]])
  const config = readConfig({ store: 'memory:', ...given }, {}, ['rules'])
  const composed = await compose(config, { services, hashCost: 2 })
  await composed.keyPairs.add({ key: 'a', secret: 's', tenant: 'acme' })
  return createApp({ ...composed, log: { level: 'silent', stream: { write: () => {} } } })
}

const figuresOf = async (app: FastifyInstance): Promise<readonly string[]> =>
  (await app.inject({ url: '/metrics' })).body.split('\n').filter((line) => line.startsWith('reflexarc_'))

describe('the figures of a host', () => {
  it.each([
    ['drop', 1, 1],
    ['take', 2, 0],
  ])('count a message that comes again as --duplicates %s says', async (duplicates, firings, dropped) => {
    await using app = await rulesHost({ duplicates })
    const post = (url: string, payload: object) => app.inject({ method: 'POST', url, headers: AS, payload })
    const sensor = { label: 'hot', name: 'streamingDataSensor', resource: '$' }
    const made = await post('/api/tasks', {
      sensors: [{ ...sensor, properties: { parameter: 't', threshold: 90 } }],
      actuators: [{ label: 'say', name: 'log', properties: { message: 'hot' } }],
      triggers: [{ sourceLabel: 'hot', destinationLabel: 'say', statesTrigger: ['Above'] }],
      task: { name: 'hot', type: 'reactive', resource: 'boiler' },
    })
    expect(made.statusCode, made.body).toBe(201)
    const collectedTime = Date.now()
    for (let times = 0; times < 2; times++) {
      await post('/api/data', { resource: 'boiler', data: { parameterName: 't', value: 95, collectedTime } })
    }
    expect(await figuresOf(app)).toEqual(
      expect.arrayContaining([
        `reflexarc_firings_total ${firings}`,
        `reflexarc_readings_total{reason="duplicate"} ${dropped}`,
      ]),
    )
  })

  it('count what its tasks did, whether or not they went their short way', async () => {
    await using app = await rulesHost()
    const post = (url: string, payload: object) => app.inject({ method: 'POST', url, headers: AS, payload })
    const made = await post('/api/tasks', {
      sensors: [
        { label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 't', threshold: 90 } },
      ],
      actuators: [{ label: 'say', name: 'log', properties: { message: 'hot' } }],
      triggers: [{ sourceLabel: 'hot', destinationLabel: 'say', statesTrigger: ['Above'], invocationPolicy: 3600 }],
      task: { name: 'hot', type: 'reactive', resource: 'boiler' },
    })
    expect(made.statusCode, made.body).toBe(201)
    for (const value of [1, 2, 93, 94, 95]) {
      await post('/api/data', { resource: 'boiler', data: { parameterName: 't', value } })
    }
    expect(await figuresOf(app)).toEqual(
      expect.arrayContaining([
        'reflexarc_inputs_total 5',
        // and the start
        'reflexarc_steps_total 6',
        'reflexarc_firings_total 1',
        'reflexarc_held_total 2',
        'reflexarc_tasks{status="running"} 1',
        'reflexarc_tasks{status="failed"} 0',
        'reflexarc_queue_depth{queue="inputs"} 0',
      ]),
    )
  })
})
