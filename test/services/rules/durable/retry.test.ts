/** Tests that a failed call of an actuator can be made again, and the list of the deliveries of all tasks. */
import { describe, expect, it } from 'vitest'
import { definePlug, type Plug, type Ports, type Rule, type TaskSettings } from '../../../../src/index.ts'
import { Ground, type Life, runnableOf } from './support/lives.ts'

const ports: Ports = { secret: () => 'sesame' }

interface Made {
  readonly id: string
  readonly properties: object
  readonly task: string
}

/** Creates a plug that fails until it is mended, and notes each call. */
function printer(): { plugs: readonly Plug[]; made: Made[]; mend: () => void } {
  const made: Made[] = []
  let isMended = false
  const send = definePlug({
    name: 'send',
    version: '1.0.0',
    kind: 'actuator',
    input: { text: { type: 'string' } },
    execute: async ({ id, properties, task }) => {
      made.push({ id, properties: { ...properties }, task: task.TASK_ID })
      await Promise.resolve()
      if (!isMended) throw new Error('no paper')
      return { message: 'printed' }
    },
  })
  const plugs = [...new Ground().outside.plugs.filter(({ name }) => name !== 'send'), send]
  return { plugs, made, mend: () => void (isMended = true) }
}

function ruleOf(text: string, more: object = {}): Rule {
  return {
    sensors: [{ label: 'level', name: 'level', resource: '$' }],
    actuators: [{ label: 'send', name: 'send', properties: { text }, ...more }],
    triggers: [{ sourceLabel: 'level', destinationLabel: 'send', statesTrigger: ['HIGH'] }],
  }
}

async function failed(life: Life, rule: Rule, settings: TaskSettings = {}): Promise<string> {
  await life.begin(runnableOf('a', rule, { resource: 'b', ...settings }))
  await life.send('b', { level: 11, who: '${vault.KEY}' })
  await life.rest()
  const [delivery] = await life.runner.nodes.deliveries('a', { limit: 10 })
  expect(delivery).toMatchObject({ status: 'dead', error: 'no paper', attempts: 1 })
  return delivery?.id ?? ''
}

describe('a dead delivery', () => {
  it.each([
    ['constant', 'hello', 'hello'],
    ['of its message', '${streamdata.level}', '11'],
    ['with a secret', '${vault.KEY} ${streamdata.level}', 'sesame 11'],
    ['that look like a reference', '${streamdata.who}', '${vault.KEY}'],
  ])('is retried with its id and its properties, which are %s', async (_which, text, sent) => {
    const { plugs, made, mend } = printer()
    const ground = new Ground()
    let life = ground.open({ plugs, ports })
    const rule = ruleOf(text)
    const id = await failed(life, rule)
    await life.send('b', { level: 99, who: 'other' })
    await life.rest()
    await life.close()
    life = ground.open({ at: 1_000, plugs, ports })
    await life.runner.resume([runnableOf('a', rule, { resource: 'b' })])
    await life.rest()
    mend()
    const before = made.length
    expect(await life.runner.nodes.retry('a', id)).toMatchObject({
      id,
      status: 'delivered',
      message: 'printed',
      attempts: 2,
      createTime: 0,
      lastAttemptTime: 1_000,
    })
    expect(made.slice(before)).toEqual([{ id, properties: { text: sent }, task: 'a' }])
    expect(JSON.stringify(await life.runner.nodes.deliveries('a', { limit: 10 }))).not.toContain('sesame')
    await life.close()
  })

  it('of a loop is retried for its item', async () => {
    const { plugs, made, mend } = printer()
    const life = new Ground().open({ plugs, ports })
    const id = await failed(life, ruleOf('${loop.id}', { loopDef: '[{"id":"1"},{"id":"2"}]' }))
    mend()
    expect(await life.runner.nodes.retry('a', id)).toMatchObject({ id, status: 'delivered' })
    expect(made.at(-1)).toMatchObject({ id, properties: made.find((one) => one.id === id)?.properties })
    await life.close()
  })

  it('of a task with settings of its own is retried under them', async () => {
    const { plugs, made, mend } = printer()
    const life = new Ground().open({ plugs })
    const actions = [{ label: 'send', requiredProperties: { text: 'changed ${streamdata.level}' } }]
    const settings = { nodes: [{ name: 'level', properties: { cost: 2, actions } }], type: 'reactive' } as const
    const id = await failed(life, ruleOf('hello'), settings)
    mend()
    expect(await life.runner.nodes.retry('a', id)).toMatchObject({ id, status: 'delivered' })
    expect(made.at(-1)).toMatchObject({ id, properties: { text: 'changed 11' } })
    await life.close()
  })

  it('that fails again is dead with its last reason', async () => {
    const { plugs } = printer()
    const life = new Ground().open({ plugs })
    const id = await failed(life, ruleOf('hello'))
    expect(await life.runner.nodes.retry('a', id)).toMatchObject({ status: 'dead', error: 'no paper', attempts: 2 })
    await life.close()
  })

  it('is not retried while it is delivered, unknown, or its task does not run', async () => {
    const { plugs, mend } = printer()
    const life = new Ground().open({ plugs })
    const id = await failed(life, ruleOf('hello'))
    const { nodes } = life.runner
    await expect(nodes.retry('a', 'a/1/9/9')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    mend()
    await nodes.retry('a', id)
    await expect(nodes.retry('a', id)).rejects.toThrow(`delivery ${id} is delivered; only a dead one is retried`)
    await life.close()
  })
})

it('deliveries of all tasks are listed by time, whether they are stored or not', async () => {
  const { plugs } = printer()
  const life = new Ground().open({ plugs })
  for (const id of ['a', 'c']) await life.begin(runnableOf(id, ruleOf('hello'), { resource: 'b' }))
  for (const at of [100, 200]) {
    await life.to(at)
    await life.send('b', { level: at })
    await life.rest()
  }
  const { nodes } = life.runner
  const listed = async () => {
    const all = [...(await nodes.unstoredDeliveries()), ...(await nodes.storedDeliveries({ limit: 100 }))]
    return all.map(({ task, createTime }) => `${task} ${createTime}`).toSorted()
  }
  const all = ['a 100', 'a 200', 'c 100', 'c 200']
  expect(await listed()).toEqual(all)
  for (const id of ['a', 'c']) await nodes.retry(id, (await nodes.deliveries(id, { limit: 1 }))[0]?.id ?? '')
  expect(await nodes.unstoredDeliveries()).toEqual([])
  expect(await listed()).toEqual(all)
  const [first, second] = await nodes.storedDeliveries({ limit: 2, status: 'dead' })
  expect([first, second]).toMatchObject([{ createTime: 200 }, { createTime: 200 }])
  const { createTime: time = 0, key = '' } = first ?? {}
  expect((await nodes.storedDeliveries({ limit: 2 }, { time, key })).map((one) => one.createTime)).toEqual([200, 100])
  await life.close()
})
