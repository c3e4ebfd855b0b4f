/** Tests the demo plant in a whole host whose clock and timers advance by hand. */
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { removeDemo } from '../../../src/host/demo/demo-plant.ts'
import { INCIDENT } from '../../../src/host/demo/plant-model.ts'
import { HandTimers } from '../hand-timers.ts'
import { listeningHost, type ListeningHost } from '../listening-host.ts'
import { testFolder } from '../../support/test-folder.ts'

const START = Date.parse('2026-11-30T08:00:00Z')
const HOUR = 3_600_000
const page = { hits: 100, startIndex: 0 }

let hosts: ListeningHost[] = []
afterEach(async () => {
  await Promise.all(hosts.map((host) => host.stop()))
  hosts = []
})

async function opened(given: object = {}, from = 0) {
  const timers = new HandTimers()
  const now = () => START + from + timers.elapsed()
  const host = await listeningHost({ empty: false, ...given }, { timers, now })
  hosts.push(host)
  return { timers, now, ...host.client, client: host.client, stop: () => host.stop() }
}
type Opened = Awaited<ReturnType<typeof opened>>

const idsOf = async ({ resources }: Opened) =>
  (await resources.resources.list({ limit: 100 })).values.map(({ id }) => id).toSorted()

const isFilled = async ({ resources, timers }: Opened) => {
  timers.advance(50)
  return (await resources.resources.get('demo-plant')).value['demo']
}

describe('the demo plant', () => {
  it('has ten resources under one root, with tasks, and raises an explained alarm within thirty seconds', async () => {
    const plant = await opened()
    expect(await idsOf(plant)).toHaveLength(11)
    expect((await plant.rules.tasks.list({ where: {}, ...page })).values).toHaveLength(20)
    await expect
      .poll(async () => {
        if (plant.timers.elapsed() < 30_000) plant.timers.advance(1_000)
        return (await plant.alarms.list({})).alarms
      })
      .toMatchObject([{ type: 'OVERHEATED', source: { id: INCIDENT }, status: 'ACTIVE' }])
    const [task] = (await plant.rules.tasks.list({ where: { resource: INCIDENT, name: '*overheating' }, ...page }))
      .values
    const { text, fired } = await plant.rules.inspection.explain(task?.ID ?? '', 'alarm')
    expect(fired?.time).toBeLessThanOrEqual(START + 30_000)
    expect(text.sentence).toMatch(/^alarm fired at .*, because hot_and_still is TRUE\.$/)
  })

  it('fills three days of series in the background', async () => {
    const plant = await opened()
    await expect.poll(() => isFilled(plant)).toMatchObject({ isFilled: true, began: START })
    const query = { from: START - 72 * HOUR, until: START - 71 * HOUR - 1 }
    expect((await plant.broker.series.raw('demo-cold-1', 'temperature', query)).series).toHaveLength(60)
    expect((await plant.alarms.list({})).alarms, 'history raises no alarms').toEqual([])
  })

  it('continues after a restart, and is not created again after its removal', async () => {
    const given = { store: undefined, data: testFolder(onTestFinished) }
    const first = await opened(given)
    await first.stop()
    const second = await opened(given, HOUR)
    second.timers.advance(1_000)
    await expect
      .poll(async () => (await second.broker.messages.current('demo-boiler-1')).timestamp)
      .toBe(START + HOUR + 1_000)
    expect(await idsOf(second)).toHaveLength(11)
    expect(await removeDemo(second.client)).toBe(true)
    await second.stop()
    const third = await opened(given, 2 * HOUR)
    third.timers.advance(1_000)
    expect(await idsOf(third)).toEqual([])
  })

  it('leaves nothing when it is removed, and other data are unchanged', async () => {
    const plant = await opened()
    await plant.resources.resources.create({ id: 'mine' })
    await plant.rules.templates.copy('demo-overheating', 'my-template')
    await plant.rules.tasks.create({ name: 'my task', template: 'my-template', resource: 'mine' })
    expect(await removeDemo(plant.client)).toBe(true)
    await expect.poll(() => idsOf(plant)).toEqual(['mine'])
    expect((await plant.rules.tasks.list({ where: {}, ...page })).values).toMatchObject([{ name: 'my task' }])
    expect(
      (await plant.rules.templates.list({ where: {}, ...page, format: 'simplified', includeGraph: false })).values,
    ).toMatchObject([{ name: 'my-template' }])
    expect((await plant.resources.types.list({})).values).toEqual([])
  })

  it.each([
    ['--empty', { empty: true }],
    ['a host without alarms', { only: ['rules', 'broker', 'resources'] }],
  ])('is absent with %s', async (_, given) => {
    expect(await idsOf(await opened(given))).toEqual([])
  })

  it('is absent from a folder that was used before', async () => {
    const given = { store: undefined, data: testFolder(onTestFinished) }
    const first = await opened({ ...given, empty: true })
    await first.resources.resources.create({ id: 'mine' })
    await first.stop()
    expect(await idsOf(await opened(given))).toEqual(['mine'])
  })
})
