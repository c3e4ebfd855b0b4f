import { describe, expect, it } from 'vitest'
import { explainLines } from '../../../src/cli/report/explain-text.ts'
import { plain } from '../../../src/cli/terminal.ts'
import { START } from './events.ts'

const nothing = { node: 'alarm', time: START, fired: null }

describe('explainLines', () => {
  it('tells what a trigger waits for, what holds it, and what would let it through', () => {
    const explanation = {
      ...nothing,
      triggers: [
        {
          source: 'gate',
          condition: 'gate is TRUE',
          blocked: [{ reason: 'state' as const, node: 'gate', message: 'gate is FALSE' }],
          needs: [
            { node: 'temperature', state: 'Above' },
            { node: 'pump', state: 'False' },
          ],
        },
      ],
    }
    expect(explainLines(explanation, plain)).toEqual([
      'alarm did not fire',
      '  waits for gate is TRUE',
      '  held by   gate is FALSE',
      '  needs     temperature Above and pump False',
    ])
  })

  it('says so when nothing leads to a node', () => {
    expect(explainLines({ ...nothing, triggers: [] }, plain)).toEqual(['alarm has no trigger, so nothing can fire it'])
  })
})
