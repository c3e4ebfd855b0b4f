import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkRecording } from '../../src/cli/recording/recording.ts'
import { openSource } from '../../src/cli/recording/source.ts'
import { zoneOf } from '../../src/cli/zone.ts'
import { filesUnder, readText, root } from '../support/repository.ts'
import { cli } from './run-cli.ts'

describe('the fixtures', () => {
  it('have a boiler that its recipe still produces, byte by byte', () => {
    const { stdout } = spawnSync(process.execPath, [join(root, 'fixtures/recordings/boiler.recipe.mjs')], {
      encoding: 'utf8',
    })
    expect(stdout).toBe(readText('fixtures/recordings/boiler.csv'))
  })

  it.each([...filesUnder(['fixtures/recordings'], '.csv'), ...filesUnder(['fixtures/recordings'], '.ndjson')])(
    '%s is a good recording',
    async (path) => {
      const source = await openSource(join(root, path))
      const { problems, messages } = await checkRecording(source, { zone: zoneOf('UTC'), resource: 'r' })
      expect(problems).toEqual([])
      expect(messages).toBeGreaterThan(5)
    },
  )

  it('fire as their README shows', async () => {
    const rows = readText('fixtures/README.md').matchAll(/^\| `(rules\/\S+)` \| (?:`(\S+)`|none) \| .* \| `(.*)` \|$/gm)
    const runs = [...rows].map(([, rule = '', recording, options = '']) => {
      const messages = recording === undefined ? [] : ['--messages', `fixtures/${recording}`]
      return ['simulate', `fixtures/${rule}`, ...messages, ...options.split(' ')]
    })
    expect(runs).toHaveLength(6)
    for (const args of runs) {
      const { code, stdout, stderr } = await cli(args)
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
      expect(stdout).toMatch(/ [1-9]\d* firings?, /)
    }
  })
})
