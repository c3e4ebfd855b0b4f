/** Provides a task that is busy in every way in which a task can be saved. */
import type { SavedTask } from '../../src/core/engine/api.ts'
import { live, promisesSettled, type Live } from './live-engine.ts'
import { atMostEvery, gate, is, on, rule, trigger, turns } from './rule-writing.ts'
import { LATER } from './scripted-plugs.ts'

/** Returns the saved task as plain JSON, without the time of its restoration. */
export const saved = (t: Live): SavedTask => JSON.parse(JSON.stringify(t.task.save())) as SavedTask

/** The work begins at resource r; the other resource is q. */
const busy = rule({
  sensors: {
    other: on('switch', { resource: 'q' }),
    retrying: on('switch', { resource: 'q', retryConfig: { maxRetries: 3, minBackoff: 'PT8S' } }),
    held: on('switch'),
    follow: on('switch'),
    evicting: on('switch', { evictionTime: 9000 }),
    paused: on('switch', { pauseExecution: true, pauseExecutionTimeout: 'PT30S' }),
    looping: on('late', { loopDef: '[{"n":1},{"n":2},{"n":3}]', properties: { value: '${loop.n}' }, timeout: 'PT3S' }),
    next: on('switch', { sequence: 2 }),
    polled: { name: 'switch', pollingPeriod: 7000 },
    chained: 'switch',
  },
  actuators: [
    'act',
    { label: 'retried', retryConfig: { maxRetries: 3, minBackoff: 'PT6S' } },
    { label: 'slow', properties: { value: '${nodes.chained.rawData.n}' }, timeout: 'PT20S' },
  ],
  relations: [gate('both', 'AND', ['held', 'On'], ['evicting', 'On'])],
  triggers: [
    trigger('evicting', 'chained', turns('*', 'On')),
    trigger('chained', 'act', atMostEvery(60)),
    trigger('chained', 'retried'),
    trigger('chained', 'slow'),
    trigger('looping', 'slow'),
    trigger('evicting', 'slow', is('On')),
    trigger('both', 'slow', is('TRUE')),
  ],
  task: { type: 'scheduled', cron: '40 1 * * * ?' },
})

/**
 * Returns the task while the plug of `looping` processes its third item, a message of q waits, and actuator calls are
 * open.
 */
export async function inTheMiddle(): Promise<Live> {
  const t = await live(busy, {
    script: (plugs) => {
      plugs.say('held', { state: 'On', after: 5000, rawData: { v: -1.5 } })
      plugs.say('follow', { state: 'Off', then: { state: 'On', after: 6000 } })
      plugs.say('retrying', 'Off', new Error('busy'), 'On')
      plugs.say('evicting', 'On')
      plugs.say('chained', { state: 'On', rawData: { n: 7, list: [null] } })
      plugs.say('retried', new Error('busy'), { message: 'done' })
      plugs.say('slow', LATER)
    },
  })
  t.to(1000)
  t.send({ v: Number.NaN, w: 1 }, 'q')
  t.to(1500)
  t.send({})
  t.to(1600)
  t.send({ v: 2, x: Number.NEGATIVE_INFINITY }, 'q')
  for (let item = 1; item < 3; item++) {
    t.plugs.settle('looping', 'On')
    await promisesSettled()
  }
  return t
}
