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

const WATCHED = {
  sensors: [sensor('hot', 'condition', { condition: 'temperature > 90' })],
  actuators: [
    actuator('alarm', 'createAlarm', { type: 'HEAT', text: 'it is hot', severity: 'MAJOR' }),
    actuator('calm', 'clearAlarm', { type: 'HEAT' }),
  ],
  triggers: [trigger('hot', 'alarm', 'True'), trigger('hot', 'calm', 'False')],
}

async function post(temperature: number): Promise<void> {
  const answer = await ask('POST', '/resources/boiler-1', { temperature })
  expect(answer.statusCode, answer.body).toBeLessThan(300)
}

describe('a rule over posted data', () => {
  it('raises an alarm, counts it, clears it, and raises another; each says why', async () => {
    const id = await task(WATCHED)
    for (const temperature of [95, 96, 50, 97]) await post(temperature)
    const url = '/alarm/alarms?source=boiler-1&sort=creationTime&order=ascending'
    await until(async () => (await got<{ total: number }>(url)).total === 2)
    const { alarms } = await got<{ alarms: readonly Alarm[] }>(url)
    expect(alarms).toMatchObject([
      { status: 'CLEARED', count: 2, text: 'it is hot', additionalProperties: { task: id } },
      { status: 'ACTIVE', count: 1, severity: 'MAJOR', source: { id: 'boiler-1' } },
    ])
    const why = await got(`/alarm/alarms/${alarms[0]?.id}/why`)
    expect(why).toMatchObject({
      raisedBy: 'system/engine',
      cause: { task: id, node: 'alarm', trigger: 'hot', hops: 1 },
      explanation: { fired: { why: { input: { resource: 'boiler-1' }, sensors: [{ node: 'hot', state: 'True' }] } } },
    })
    await ask('DELETE', `/api/tasks/${id}?forceStop=true`)
    expect(await got(`/alarm/alarms/${alarms[0]?.id}/why`)).toEqual(why)
  })

  it('wakes another that hears alarms, and that one a third', async () => {
    await task(WATCHED)
    const hearing = await task({
      sensors: [sensor('heard', 'AlarmEventSensor', { type: 'HEAT' })],
      actuators: [actuator('worse', 'createAlarm', { type: 'WORSE', text: 'after {{heard.alarm.type}}' })],
      triggers: [trigger('heard', 'worse', 'Created')],
    })
    const counting = await task({
      sensors: [sensor('all', 'AlarmEventSensor'), sensor('latest', 'getLatestAlarm')],
      actuators: [],
      triggers: [trigger('all', 'latest', 'Created', 'Cleared')],
    })
    await post(95)
    await until(async () => (await got<{ total: number }>('/alarm/alarms?type=WORSE')).total === 1)
    const { alarms } = await got<{ alarms: readonly Alarm[] }>('/alarm/alarms?type=WORSE')
    expect(alarms[0]).toMatchObject({ text: 'after HEAT', additionalProperties: { task: hearing } })
    expect(await got(`/alarm/alarms/${alarms[0]?.id}/why`)).toMatchObject({ cause: { hops: 2 } })
    await until(async () => {
      const { rawData } = await got<{ rawData?: { type?: string } }>(`/api/tasks/${counting}/nodes/latest`)
      return rawData?.type === 'WORSE'
    })
  })

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
