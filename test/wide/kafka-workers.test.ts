/**
 * Runs workers against a real Kafka: they are killed, frozen and started again while messages arrive, and the results
 * equal a plain fold over the input. ROUNDS sets the number of rounds.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Rule } from '../../src/core/index.ts'
import { limitRule } from '../kafka/plant.ts'
import { rulesFolder, settled, startWorkerProcess, TestTopics, type WorkerProcess } from '../kafka/worker-process.ts'
import { kafkaProblem, type KafkaServer, startKafka } from '../support/kafka.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 2)
const PARTITIONS = 4
const RESOURCES = Array.from({ length: 20 }, (_, i) => `r${i}`)
const LIMIT = 50
const TIMEOUT = 240_000 + ROUNDS * 60_000
const problem = kafkaProblem()
let server: KafkaServer
let topics: TestTopics

beforeAll(async () => {
  if (problem !== undefined) return
  server = await startKafka()
  topics = new TestTopics(server.plain)
}, TIMEOUT)
afterAll(async () => {
  await topics?.close()
  await server?.close()
})

// oxlint-disable-next-line vitest/expect-expect -- it only says why the others are left out
it.runIf(problem !== undefined)('needs Kafka', ({ skip }) => skip(problem))

function hot(resource: string): Rule {
  const rule = limitRule(LIMIT)
  return { ...rule, task: { ...rule.task, resource, name: resource } }
}

interface Alarm {
  readonly cause: { readonly effect: string }
}

/** Counts by hand, in order of offsets, when each resource went above the limit. */
async function crossings(prefix: string): Promise<number> {
  const above = new Set<string>()
  let count = 0
  for (const records of await topics.read(`${prefix}in`)) {
    for (const { key = '', value, headers } of records) {
      if (headers?.['rx-kind'] !== undefined) continue
      const { value: level } = JSON.parse(value ?? '') as { value: number }
      if (level <= LIMIT) above.delete(key)
      else if (!above.has(key)) {
        above.add(key)
        count++
      }
    }
  }
  return count
}

describe.skipIf(problem !== undefined)('workers with Kafka', { timeout: TIMEOUT }, () => {
  // Holds TXLOG-1, TXLOG-2, TXLOG-3
  it('lose nothing and repeat nothing, whatever is killed, frozen or restarted', async () => {
    const prefix = 'life.'
    const folder = rulesFolder(Object.fromEntries(RESOURCES.map((resource) => [resource, hot(resource)])))
    const flags = [
      '--prefix',
      prefix,
      '--partitions',
      String(PARTITIONS),
      '--replicas',
      '1',
      '--checkpoint-records',
      '200',
      '--rules-from',
      folder,
    ]
    let count = 0
    const start = (): Promise<WorkerProcess> => startWorkerProcess(server.plain, `w${count++}`, flags)
    let workers = [await start()]
    await settled(workers, PARTITIONS, RESOURCES.length)
    workers.push(await start())
    let n = 0
    const send = async (portions: number): Promise<void> => {
      for (let i = 0; i < portions; i++) {
        const records = Array.from({ length: 100 }, () => {
          n++
          return { key: RESOURCES[(n * 13) % RESOURCES.length] ?? '', value: JSON.stringify({ value: (n * 37) % 100 }) }
        })
        await topics.send(`${prefix}in`, records)
      }
    }
    for (let round = 0; round < ROUNDS; round++) {
      const [victim, frozen] = workers
      await send(10)
      victim?.signal('SIGKILL')
      await send(5)
      const fresh = await start()
      await send(5)
      // its session expires, and its next commit is refused
      frozen?.signal('SIGSTOP')
      await send(5)
      await settled([fresh], PARTITIONS, RESOURCES.length)
      await send(5)
      frozen?.signal('SIGCONT')
      workers = [fresh, ...(frozen === undefined ? [] : [frozen])]
      await send(5)
      await settled(workers, PARTITIONS, RESOURCES.length)
    }
    const alarms = (await topics.read(`${prefix}out.alarms`))
      .flat()
      .map(({ value }) => JSON.parse(value ?? '') as Alarm)
    expect(new Set(alarms.map(({ cause }) => cause.effect)).size).toBe(alarms.length)
    expect(alarms).toHaveLength(await crossings(prefix))
    // any worker explains any task, once it has read who owns the partition
    for (const worker of workers)
      await expect
        .poll(() => worker.get('/explain?task=r3&node=alarm'), { timeout: 60_000 })
        .toMatchObject({ status: 200, body: { node: 'alarm' } })
    for (const worker of workers) worker.signal('SIGTERM')
    expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual(workers.map(() => 0))
  })

  it('reject an input topic that was created again with another number of partitions, with advice', async () => {
    const prefix = 'again.'
    const folder = rulesFolder({ r0: hot('r0') })
    const flags = ['--prefix', prefix, '--partitions', '2', '--replicas', '1', '--rules-from', folder]
    const worker = await startWorkerProcess(server.plain, 'w', flags)
    await settled([worker], 2, 1)
    worker.signal('SIGTERM')
    await worker.ended
    const all = ['in', 'state', 'out.alarms', 'out.commands', 'out.messages', 'effects', 'late', 'dead']
    for (const suffix of all) await topics.deleteTopic(prefix + suffix)
    const next = await startWorkerProcess(server.plain, 'w2', [
      '--prefix',
      prefix,
      '--partitions',
      '4',
      '--replicas',
      '1',
    ])
    expect(await next.ended).toBe(1)
    expect(next.output()).toMatch(
      /has 4 partitions, and the states of its tasks were stored with 2.*create it again with 2/,
    )
  })
})
