/** Alarms inside the whole frame, with the rules that raise, clear and hear them and the broker that feeds those. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Alarm } from '../../src/services/alarms/contract.ts'
import { until } from '../support/until.ts'
import { wholeHost, type WholeHost } from './whole-host.ts'

let host: WholeHost
beforeEach(async () => {
  host = await wholeHost()
})
afterEach(() => host[Symbol.asyncDispose]())

const ask = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) =>
  host.send(method, url, payload)
const got = async <T>(url: string): Promise<T> => (await ask('GET', url)).json<T>()
const heat = { type: 'HEAT', text: 'hot', severity: 'MAJOR', source: { id: 'boiler-1' } }

async function task(rule: object): Promise<string> {
  const made = await ask('POST', '/api/tasks', { ...rule, task: { name: 't', type: 'reactive', resource: 'boiler-1' } })
  expect(made.statusCode, made.body).toBe(201)
  return made.json<{ ID: string }>().ID
}

const sensor = (label: string, name: string, properties: object = {}) => ({ label, name, resource: '$', properties })
const actuator = (label: string, name: string, properties: object) => ({ label, name, properties })
const trigger = (sourceLabel: string, destinationLabel: string, ...statesTrigger: readonly string[]) => ({
  sourceLabel,
  destinationLabel,
  statesTrigger,
  invocationPolicy: 0,
})

describe('a rule over posted data', () => {
  it('that is a circle of alarms ends after sixteen rounds', async () => {
    const id = await task({
      sensors: [sensor('heard', 'AlarmEventSensor')],
      actuators: [actuator('again', 'createAlarm', { type: 'ROUND', text: '' })],
      triggers: [trigger('heard', 'again', 'Created', 'Occurred again')],
    })
    await ask('POST', '/alarm/alarms', { ...heat, type: 'ROUND' })
    const refused = async () => {
      const [newest] = await got<readonly { error?: string; status: string }[]>(`/api/tasks/${id}/deliveries?limit=1`)
      return newest?.error?.includes('17 rules in a row set each other off') === true
    }
    await until(refused)
    const { alarms } = await got<{ alarms: readonly Alarm[] }>('/alarm/alarms')
    expect(alarms).toMatchObject([{ type: 'ROUND', count: 17 }])
  })
})
