/** Tests rehearsals of a running task on what the host kept: they repeat the live run, also across a restart. */
import { describe, expect, it } from 'vitest'
import type { InputsPage, TaskStateView } from '../../src/services/rules/inputs/inputs-schema.ts'
import type { Rehearsal } from '../../src/services/rules/contract.ts'
import { testFolder } from '../support/test-folder.ts'
import { wholeHost, type WholeHost } from './whole-host.ts'

const RULE = {
  sensors: [
    { label: 'hot', name: 'hysteresis', resource: '$', properties: { value: 'temperature', enter: 90, leave: 80 } },
    { label: 'last', name: 'getMetricValue', resource: '$', properties: { metric: 'temperature' } },
  ],
  actuators: [
    { label: 'alarm', name: 'createAlarm', properties: { type: 'HOT', severity: 'MAJOR', text: '{{hot.value}}' } },
    { label: 'note', name: 'log', properties: { message: 'a value was found' } },
  ],
  triggers: [
    { sourceLabel: 'hot', destinationLabel: 'alarm', begins: ['On'] },
    { sourceLabel: 'last', destinationLabel: 'note', statesTrigger: ['Collected'] },
  ],
  task: { name: 'watch the boiler', type: 'reactive', resource: 'boiler' },
}

async function rehearsed(host: WholeHost, body: object, path = '/api/rehearsals'): Promise<Rehearsal> {
  const { id } = await host.done<{ id: string }>('POST', path, body)
  const found = () => host.done<Rehearsal>('GET', `/api/rehearsals/${id}`)
  await expect.poll(async () => (await found()).status, { timeout: 60_000 }).not.toBe('running')
  return found()
}

/** Posts readings among which are a late one, a repeated one, a null and an object. */
async function feed(host: WholeHost, start: number): Promise<void> {
  const post = (body: object) => host.done('POST', '/resources/boiler/events', body)
  await post({ timestamp: start, temperature: 70 })
  await post({ timestamp: start + 3_000, temperature: 95 })
  await post({ timestamp: start + 1_000, temperature: 60 })
  await post({ timestamp: start + 3_000, temperature: 95 })
  await post({ timestamp: start + 4_000, temperature: null, place: { floor: 1 } })
  await post({ timestamp: start + 5_000, temperature: 75 })
  await post({ timestamp: start + 6_000, temperature: 97 })
}

const firingsOf = ({ firings = [] }: Rehearsal) => firings.map(({ node, source }) => ({ node, source }))

async function fired(host: WholeHost, task: string): Promise<readonly object[]> {
  const { values } = await host.done<InputsPage>('GET', `/api/tasks/${task}/inputs`)
  return values.flatMap(({ effects }) => effects.map(({ node, source }) => ({ node, source })))
}

// Holds REHEARSE-4
describe('a rehearsal of a task', () => {
  it('repeats its live run from kept inputs, also across a restart', async () => {
    const data = testFolder()
    const start = Date.now() - 60_000
    let id = ''
    {
      await using host = await wholeHost({ data })
      id = (await host.done<{ ID: string }>('POST', '/api/tasks', RULE)).ID
      await feed(host, start)
    }
    await using host = await wholeHost({ data })
    await feed(host, start + 20_000)
    await expect.poll(async () => (await fired(host, id)).length).toBe(14)
    const live = await fired(host, id)
    const answer = await rehearsed(host, { task: id, source: { from: '-1h' }, calls: 'recorded' })
    expect(answer).toMatchObject({
      status: 'done',
      fidelity: 'inputs',
      coverage: { items: [{ resource: 'boiler', fidelity: 'inputs', initialState: 'warm', messages: 14 }] },
    })
    expect(firingsOf(answer)).toEqual(live)
  })

  it('reads inputs of an earlier process before any other request', async () => {
    const data = testFolder()
    {
      await using host = await wholeHost({ data })
      await feed(host, Date.now() - 60_000)
    }
    await using host = await wholeHost({ data })
    const { task: _task, ...rule } = RULE
    const body = { rule, resources: ['boiler'], source: { from: '-1h' } }
    expect(await rehearsed(host, body)).toMatchObject({ fidelity: 'inputs', coverage: { messages: 7 } })
  })

  it('reads series once the inputs of a deleted resource are gone', async () => {
    await using host = await wholeHost()
    await host.done('PUT', '/api/resources/boiler', {})
    const { ID: id } = await host.done<{ ID: string }>('POST', '/api/tasks', RULE)
    await feed(host, Date.now() - 60_000)
    await host.send('DELETE', '/api/resources/boiler')
    const answer = await rehearsed(host, { task: id, source: { from: '-1h' } })
    expect(answer).toMatchObject({ status: 'done', fidelity: 'series', coverage: { items: [{ fidelity: 'series' }] } })
  })

  it('begins cold in order of time on request, and rejects contradictory options', async () => {
    await using host = await wholeHost()
    const { ID: id } = await host.done<{ ID: string }>('POST', '/api/tasks', RULE)
    await feed(host, Date.now() - 60_000)
    const source = { from: '-1h' }
    const answer = await rehearsed(host, { task: id, source, order: 'time' })
    expect(answer).toMatchObject({
      fidelity: 'inputs',
      coverage: { messages: 7, late: 0, items: [{ initialState: 'cold' }] },
    })
    expect(await rehearsed(host, { task: id, source, initialState: 'cold' })).toMatchObject({
      fidelity: 'inputs',
      coverage: { messages: 7, late: 1, items: [{ initialState: 'cold' }] },
    })
    const rejected = [
      [{ task: id, source, order: 'time', initialState: 'warm' }, '/initialState'],
      [{ task: id, source, resources: ['boiler'], calls: 'recorded' }, '/calls'],
      [{ task: id, source: { messages: [{ resource: 'boiler', timestamp: 1 }] }, order: 'lived' }, '/order'],
    ] as const
    for (const [body, path] of rejected)
      expect(await host.ask('POST', '/api/rehearsals', body)).toMatchObject({
        status: 400,
        body: { details: [{ path }] },
      })
  })

  // Holds REHEARSE-5
  it('is replayed with one input changed or omitted, and the task stays as it is', async () => {
    await using host = await wholeHost()
    const { ID: id } = await host.done<{ ID: string }>('POST', '/api/tasks', RULE)
    await feed(host, Date.now() - 60_000)
    const { values } = await host.done<InputsPage>('GET', `/api/tasks/${id}/inputs`)
    const hot = values.find(({ message }) => (message as { temperature?: number } | undefined)?.temperature === 97)
    const at = hot?.position
    const state = async () => (await host.done<TaskStateView>('GET', `/api/tasks/${id}/state`)).nodes
    const before = await state()
    const replay = (body: object) => rehearsed(host, body, `/api/tasks/${id}/replay`)
    const without = await replay({ at, remove: true })
    const { keptSince } = await host.done<InputsPage>('GET', `/api/tasks/${id}/inputs`)
    expect(without).toMatchObject({ status: 'done', task: id, fidelity: 'inputs', keptSince })
    expect(without.comparison?.removed.filter(({ node }) => node === 'alarm')).toMatchObject([{ time: hot?.time }])
    const cooler = await replay({ at, message: { temperature: 85 } })
    expect(cooler.comparison).toMatchObject({ added: [], removed: [{ node: 'alarm' }] })
    expect((await replay({ at, message: { temperature: 95 } })).comparison).toMatchObject({ added: [], removed: [] })
    expect(await state()).toEqual(before)
    for (const [body, status] of [
      [{ at }, 400],
      [{ at, remove: true, message: {} }, 400],
      [{ at: 1_000, remove: true }, 404],
      [{ at: values[0]?.position, remove: true }, 404],
    ] as const)
      expect((await host.ask('POST', `/api/tasks/${id}/replay`, body)).status).toBe(status)
    expect((await host.ask('POST', `/api/tasks/${id}/replay`, { at, remove: true }, 'umbrella')).status).toBe(404)
  })

  it('reads series instead if they have samples that no rule received', async () => {
    await using host = await wholeHost()
    const { ID: id } = await host.done<{ ID: string }>('POST', '/api/tasks', RULE)
    const start = Date.now() - 60_000
    await feed(host, start)
    const body = { task: id, source: { from: '-1h' } }
    expect(await rehearsed(host, body)).toMatchObject({ fidelity: 'inputs' })
    // a list that repeats its resource is only stored
    await host.done('POST', '/resources/boiler/events', [
      { timestamp: start + 7_000, temperature: 50 },
      { timestamp: start + 8_000, temperature: 51 },
    ])
    expect(await rehearsed(host, body)).toMatchObject({ fidelity: 'series', coverage: { messages: 7 } })
  })
})
