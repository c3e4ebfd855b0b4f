/** Tests the alert rules for operators with promtool of Prometheus. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../support/repository.ts'
import { promtool } from './support/promtool.ts'

const PROGRAM = promtool()
const folder = join(root, 'fixtures', 'operate', 'prometheus')

describe.skipIf(PROGRAM === undefined)('promtool', () => {
  const run = (...words: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(PROGRAM ?? '', words, { cwd: folder, encoding: 'utf8' })
    return { status, output: `${stdout}${stderr}` }
  }

  it('accepts the alert rules', () => {
    expect(run('check', 'rules', 'alerts.yaml')).toMatchObject({ status: 0 })
  })

  it('sees each alert at the time that its test states', () => {
    expect(run('test', 'rules', 'alerts.test.yaml')).toMatchObject({ status: 0 })
  })
})
