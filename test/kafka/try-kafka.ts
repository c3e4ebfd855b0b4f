/** `npm run try:kafka`: a broker, three workers and a producer; one worker is killed, and the others go on. */
import { setTimeout as pause } from 'node:timers/promises'
import { kafkaProblem, startKafka } from '../support/kafka.ts'
import { limitRule } from './plant.ts'
import { owners, rulesFolder, settled, startWorkerProcess, TestTopics, type WorkerProcess } from './worker-process.ts'

const PARTITIONS = 8
const PREFIX = 'try.'

const problem = kafkaProblem()
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`)
  process.exit(1)
}
const say = (text: string): boolean => process.stdout.write(`${text}\n`)
say('starting a broker')
const server = await startKafka()
const names = Array.from({ length: 30 }, (_, i) => `boiler-${i}`)
const rules = Object.fromEntries(
  names.map((resource) => [`${resource} is hot`, { ...limitRule(90), task: { ...limitRule(90).task, resource } }]),
)
const folder = rulesFolder(rules)
const flags = ['--prefix', PREFIX, '--partitions', String(PARTITIONS), '--replicas', '1', '--rules-from', folder]
say(`starting three workers: reflexarc worker --brokers ${server.plain} ${flags.join(' ')}`)
const first = await startWorkerProcess(server.plain, 'worker-1', flags)
await settled([first], PARTITIONS, names.length)
const workers: WorkerProcess[] = [first]
for (const name of ['worker-2', 'worker-3']) workers.push(await startWorkerProcess(server.plain, name, flags))
await settled(workers, PARTITIONS, names.length)
await show()
const topics = new TestTopics(server.plain)
const sending = new AbortController()
let sent = 0
const producing = (async () => {
  while (!sending.signal.aborted) {
    await topics.send(
      `${PREFIX}in`,
      names.map((key) => ({ key, value: JSON.stringify({ value: (sent++ * 7) % 100 }) })),
    )
    await pause(50)
  }
})()
await pause(3_000)
const [victim, ...others] = workers
say('killing worker-1 with kill -9')
victim?.signal('SIGKILL')
const at = Date.now()
for (;;) {
  const found = await owners(others)
  if (new Set([...found.values()].flat()).size === PARTITIONS) break
  await pause(100)
}
say(
  `the others own all partitions after ${((Date.now() - at) / 1_000).toFixed(1)} s, most of it the session of the group`,
)
sending.abort()
await producing
await settled(others, PARTITIONS, names.length)
await show()
const alarms = (await topics.read(`${PREFIX}out.alarms`))
  .flat()
  .map(({ value }) => (JSON.parse(value ?? '') as Effect).cause.effect)
say(
  `${sent} messages, ${alarms.length} alarms in ${PREFIX}out.alarms, ${alarms.length - new Set(alarms).size} of them twice`,
)
for (const worker of others) worker.signal('SIGTERM')
await topics.close()
await server.close()
process.exit(0)

interface Effect {
  readonly cause: { readonly effect: string }
}

async function show(): Promise<void> {
  for (const [name, partitions] of await owners(workers)) say(`  ${name}: partitions ${partitions.join(', ')}`)
}
