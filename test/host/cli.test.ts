import { describe, expect, it } from 'vitest'
import { readText } from '../support/repository.ts'
import { cli } from '../cli/run-cli.ts'

describe('reflexarc', () => {
  it('prints its version', async () => {
    const { version } = JSON.parse(readText('package.json')) as { version: string }
    expect(await cli(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it.each([[['--help']], [['check', '--help']], [['simulate', '--help']]])(
    '%j prints help with an example',
    async (args) => {
      const { code, stdout, stderr } = await cli(args)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toMatch(/Examples?:\n {2}reflexarc /)
    },
  )

  it('prints help and exits with 1 without a command', async () => {
    expect(await cli([])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('Usage: reflexarc') as unknown,
    })
  })

  it('shows a stack only when it is asked to debug', async () => {
    const args = ['simulate', 'rule.json', '--until', 'soon']
    const quiet = await cli(args)
    expect(quiet.stderr).toMatch(/^error: --until: "soon" is not a valid time; [^\n]+\n$/)
    for (const loud of [await cli([...args, '--debug']), await cli(args, { env: { REFLEXARC_DEBUG: '1' } })]) {
      expect(loud.code).toBe(1)
      expect(loud.stderr).toContain('\n    at ')
    }
  })
})
