/** Tests which calls inform services that their ids have no position. */
import { describe, expect, it } from 'vitest'
import { createEngine, VirtualClock, type Rule } from '../../../src/index.ts'
import { actuatorPlug, sensorPlug } from '../../support/make-plug.ts'

const seen: string[] = []
const note = (label: string, unordered: boolean | undefined): void => void seen.push(`${label} ${unordered === true}`)

const plugs = [
  sensorPlug('keep', ['Kept'], {
    acts: true,
    execute: ({ node, unordered }) => {
      note(node.NAME, unordered)
      return 'Kept'
    },
  }),
  actuatorPlug('tell', ({ node, unordered }) => note(node.NAME, unordered)),
]

const after = (sourceLabel: string, destinationLabel: string) => ({
  sourceLabel,
  destinationLabel,
  statesTrigger: ['Kept'],
  invocationPolicy: 0,
})

const RULE: Rule = {
  sensors: [
    { label: 'root', name: 'keep', resource: '$' },
    { label: 'second', name: 'keep' },
  ],
  actuators: [
    { label: 'plain', name: 'tell' },
    { label: 'free', name: 'tell', unordered: true },
    { label: 'paused', name: 'tell', pauseExecution: true },
  ],
  triggers: [after('root', 'second'), after('second', 'plain'), after('second', 'free'), after('second', 'paused')],
}

describe.each([
  ['without', false],
  ['with', true],
])('calls %s a subscriber', (_, listens) => {
  it('that triggers ran are ordered, unless the node is unordered or was paused', async () => {
    seen.length = 0
    const engine = createEngine({ plugs, scheduler: new VirtualClock(0), seed: 1 })
    if (listens) engine.events$.subscribe(() => undefined)
    const task = await engine.start(RULE, { id: 't', resource: 'r' })
    engine.receive({ resource: 'r', t: 1 })
    task.resume('paused')
    expect(seen).toEqual(['root true', 'second false', 'plain false', 'free true', 'paused true'])
    await engine.close()
  })
})
