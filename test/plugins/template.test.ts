import { describe, expect, it } from 'vitest'
import { startBuiltins } from '../support/builtin-task.ts'
import { sensor } from '../support/rule-nodes.ts'

describe('template', () => {
  it('returns the text with raw data filled in', async () => {
    const live = await startBuiltins({
      sensors: [
        { label: 's', name: 'stream', resource: '$', sequence: 1 },
        sensor('t', 'template', { template: '{{s.stream.v}} of {{RESOURCE}}' }, { sequence: 2 }),
      ],
    })
    live.send({ v: 7 })
    expect(live.states('t')).toEqual(['0 Success'])
    expect(live.task.node('t').rawData).toEqual({ result: '7 of r' })
  })
})
