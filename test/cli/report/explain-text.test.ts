import { describe, expect, it } from 'vitest'
import { explainLines } from '../../../src/cli/report/run-report.ts'
import { plain } from '../../../src/cli/terminal.ts'
import { START } from './events.ts'

const nothing = { node: 'alarm', time: START, fired: null }

describe('explainLines', () => {
  it('says so when nothing leads to a node', () => {
    expect(explainLines({ ...nothing, triggers: [] }, plain)).toEqual(['alarm has no trigger, so nothing can fire it'])
  })
})
