/** Tests stored inputs in a whole host over HTTP: what a task received, and its state at an instant. */
import { describe, expect, it } from 'vitest'
import type { InputsPage, TaskStateView } from '../../src/services/rules/inputs/inputs-schema.ts'
import { testFolder } from '../support/test-folder.ts'
import { wholeHost, type WholeHost } from './whole-host.ts'

const ALARM = { name: 'createAlarm', properties: { type: 'HOT', severity: 'MAJOR', text: 'too hot' } }

async function task(
  host: WholeHost,
  actuator: object = { name: 'log', properties: { message: 'hot' } },
): Promise<string> {
  const properties = { parameter: 'temperature', threshold: 90 }
  const { ID } = await host.done<{ ID: string }>('POST', '/api/tasks', {
    sensors: [{ label: 'hot', name: 'streamingDataSensor', resource: '$', evictionTime: 60_000, properties }],
    actuators: [{ label: 'act', ...actuator }],
    triggers: [{ sourceLabel: 'hot', destinationLabel: 'act', statesTrigger: ['Above'] }],
    task: { name: 'watch the boiler', type: 'reactive', resource: 'boiler' },
  })
  return `/api/tasks/${ID}`
}

async function why(host: WholeHost, path: string): Promise<string> {
  const { text } = await host.done<{ text: { sentence: string } }>('GET', path)
  return text.sentence
}

const post = (host: WholeHost, temperature: number) => host.done('POST', '/resources/boiler/events', { temperature })

describe('inputs of a task', () => {
  it('are listed in pages, each with its firings', async () => {
    await using host = await wholeHost()
    const path = await task(host)
    for (const temperature of [80, 93, 95]) await post(host, temperature)
    const all = await host.done<InputsPage>('GET', `${path}/inputs`)
    expect(all.values.map(({ kind, effects }) => [kind, effects.map(({ node }) => node)])).toEqual([
      ['start', []],
      ['message', []],
      ['message', ['act']],
      ['message', ['act']],
    ])
    expect(all.values[1]).toMatchObject({ message: { resource: 'boiler', temperature: 80 } })
    const page = await host.done<InputsPage>('GET', `${path}/inputs?limit=2`)
    const rest = await host.done<InputsPage>('GET', `${path}/inputs?after=${page.next}`)
    expect([...page.values, ...rest.values]).toEqual(all.values)
    expect(rest.next).toBeUndefined()
    const { time = 0 } = all.values[3] ?? {}
    const last = await host.done<InputsPage>('GET', `${path}/inputs?from=${time}&until=${time}`)
    expect(last.values).toContainEqual(all.values[3])
  })

  it('are removed with their resource', async () => {
    await using host = await wholeHost()
    const path = await task(host)
    await host.done('PUT', '/api/resources/boiler', {})
    await post(host, 93)
    const before = await host.done<InputsPage>('GET', `${path}/inputs`)
    expect(before.values.some(({ kind }) => kind === 'message')).toBe(true)
    await host.send('DELETE', '/api/resources/boiler')
    const after = await host.done<InputsPage>('GET', `${path}/inputs`)
    expect(after.values.some(({ kind }) => kind === 'message')).toBe(false)
  })

  it('are in the metrics, and not of another tenant', async () => {
    await using host = await wholeHost()
    const path = await task(host)
    expect((await host.figures()).filter((line) => line.startsWith('reflexarc_kept_inputs_messages'))).toEqual([
      'reflexarc_kept_inputs_messages 0',
    ])
    expect((await host.ask('GET', `${path}/inputs`, undefined, 'umbrella')).status).toBe(404)
  })
})

describe('the state of a task', () => {
  it('at an instant is what the route returned then, even after a restart', async () => {
    const data = testFolder()
    const answers: TaskStateView[] = []
    let path = ''
    {
      await using host = await wholeHost({ data })
      path = await task(host, ALARM)
      for (const temperature of [80, 93]) {
        await post(host, temperature)
        answers.push(await host.done('GET', `${path}/state`))
      }
    }
    await using host = await wholeHost({ data })
    const replayed = await Promise.all(
      answers.map(({ at }) => host.done<TaskStateView>('GET', `${path}/state?at=${at}`)),
    )
    const [{ at: firstAt } = { at: 0 }] = answers
    expect(await why(host, `${path}/explain?node=act&at=${firstAt}`)).toMatch(/act has not fired/)
    expect(await why(host, `${path}/explain?node=hot&at=${firstAt}`)).toMatch(/^hot is (?:Below|Above)/)
    expect(await why(host, `${path}/explain?node=act`)).toMatch(/^act fired/)
    // later inputs of the same millisecond count as well
    const isSame = (one: TaskStateView, i: number) => one.position === answers[i]?.position
    expect(replayed.filter(isSame)).toEqual(answers.filter((_, i) => isSame(replayed[i] as TaskStateView, i)))
    const [, last] = answers
    expect(last).toMatchObject({ isRunning: true, nodes: [{ node: 'hot' }, { node: 'act' }] })
    expect(last?.timers).toContainEqual(expect.objectContaining({ kind: 'expiry', node: 'hot' }))
  })

  it.each([
    ['in the future', (now: number) => now + 1e9, 400],
    ['before inputs were kept', () => 1_000, 404],
    ['that is not an instant', () => 'soon', 400],
  ])('is rejected for an instant %s', async (_what, at, status) => {
    await using host = await wholeHost()
    const path = await task(host)
    for (const route of ['state?', 'explain?node=hot&'])
      expect((await host.ask('GET', `${path}/${route}at=${at(Date.now())}`)).status).toBe(status)
  })

  it('is only the current state if inputs are not kept', async () => {
    await using host = await wholeHost({ keepInputs: '0' })
    const path = await task(host)
    expect(await host.done('GET', `${path}/state`)).toMatchObject({ isRunning: true })
    for (const route of [`state?at=${Date.now() - 1}`, 'inputs']) {
      expect(await host.ask('GET', `${path}/${route}`)).toMatchObject({
        status: 404,
        body: { error: expect.stringContaining('--keep-inputs') as unknown },
      })
    }
  })
})
