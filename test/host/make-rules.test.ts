/** Tests that the metrics of a host show what its rules did. */
import { describe, expect, it } from 'vitest'
import { wholeHost, type WholeHost } from './whole-host.ts'

const began = (host: WholeHost, trigger: object = {}) =>
  host.done('POST', '/api/tasks', {
    sensors: [
      { label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 't', threshold: 90 } },
    ],
    actuators: [{ label: 'say', name: 'log', properties: { message: 'hot' } }],
    triggers: [{ sourceLabel: 'hot', destinationLabel: 'say', statesTrigger: ['Above'], ...trigger }],
    task: { name: 'hot', type: 'reactive', resource: 'boiler' },
  })

const sent = (host: WholeHost, value: number, more: object = {}) =>
  host.done('POST', '/api/data', { resource: 'boiler', data: { parameterName: 't', value, ...more } })

describe('the figures of a host', () => {
  it.each([
    ['drop', 1, 1],
    ['take', 2, 0],
  ])('count a repeated message as set by --duplicates %s', async (duplicates, firings, dropped) => {
    await using host = await wholeHost({ only: 'rules', duplicates })
    await began(host)
    const collectedTime = Date.now()
    for (let times = 0; times < 2; times++) await sent(host, 95, { collectedTime })
    expect(await host.figures()).toEqual(
      expect.arrayContaining([
        `reflexarc_firings_total ${firings}`,
        `reflexarc_readings_total{reason="duplicate"} ${dropped}`,
      ]),
    )
  })

  it('count the work of tasks with and without rows', async () => {
    await using host = await wholeHost({ only: 'rules' })
    await began(host, { invocationPolicy: 3600 })
    for (const value of [1, 2, 93, 94, 95]) await sent(host, value)
    expect(await host.figures()).toEqual(
      expect.arrayContaining([
        'reflexarc_inputs_total 5',
        // one more for the start
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
