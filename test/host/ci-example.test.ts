/** Runs the steps of the workflow that fixtures/examples/ci shows, as shell against a host. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { cli } from '../cli/run-cli.ts'
import { builtCode } from '../support/built-code.ts'
import { readText } from '../support/repository.ts'
import { listeningHost, type ListeningHost } from './listening-host.ts'

interface Step {
  readonly name: string
  readonly if?: string
  readonly run?: string
}

/** Rejects with the output of a step that fails. */
const shell = promisify(execFile)

const folder = mkdtempSync(join(tmpdir(), 'ci-'))
let host: ListeningHost
beforeAll(async () => {
  host = await listeningHost({ store: 'memory:' })
  const { client } = host
  await client.resources.types.create({ id: 'boiler', name: 'Boiler' })
  await client.resources.resources.create({ id: 'boiler-1', resourceTypeId: 'boiler' })
  await client.rules.templates.create({
    name: 'hot',
    sensors: [
      { label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 't', threshold: 90 } },
    ],
    actuators: [{ label: 'note', name: 'log', properties: { message: 'hot' } }],
    triggers: [{ sourceLabel: 'hot', destinationLabel: 'note', statesTrigger: ['Above'] }],
    taskDefaults: { type: 'reactive' },
  } as never)
  await client.broker.posting.events('boiler-1', { t: 95 })
})
afterAll(async () => {
  await host.stop()
  rmSync(folder, { recursive: true })
})

it('checks, tests, previews, rehearses and pushes the rules of a folder', async () => {
  const { key, secret } = host.credentials
  const env = { REFLEXARC_URL: host.url, REFLEXARC_API_KEY: key, REFLEXARC_API_SECRET: secret }
  expect((await cli(['rules', 'pull', join(folder, 'rules')], { env })).code).toBe(0)
  const path = join(folder, 'rules/templates/hot.json')
  writeFileSync(path, readFileSync(path, 'utf8').replace('"threshold": 90', '"threshold": 80'))
  const example = {
    rule: 'templates/hot.json',
    resource: 'boiler-1',
    cases: [{ name: 'fires', messages: [{ at: '0s', t: 85 }], expect: { firings: [{ node: 'note', at: '0s' }] } }],
  }
  writeFileSync(join(folder, 'rules/hot.test.json'), JSON.stringify(example))
  writeFileSync(join(folder, 'reflexarc'), `#!/bin/sh\nexec "${process.execPath}" "${builtCode('cli.js')}" "$@"\n`, {
    mode: 0o755,
  })

  const { jobs } = parse(readText('fixtures/examples/ci/rules.yml')) as { jobs: { rules: { steps: readonly Step[] } } }
  // the package is not installed from a registry, and comments need a pull request
  const steps = jobs.rules.steps.filter(({ name, run }) => run !== undefined && !/^(?:Install|Comment)/.test(name))
  expect(steps).toHaveLength(5)
  for (const { name, run = '' } of steps) {
    const { stdout, stderr } = await shell('bash', ['-eo', 'pipefail', '-c', run], {
      cwd: folder,
      env: { ...process.env, ...env, PATH: `${folder}:${process.env['PATH'] ?? ''}` },
    })
    expect([name, stderr], stdout).toEqual([name, ''])
  }
  expect(readFileSync(join(folder, 'change.txt'), 'utf8')).toContain('threshold: 90 -> 80')
  expect(readFileSync(join(folder, 'rehearsal.txt'), 'utf8')).toMatch(
    /1 of 1 resource had data: 1 message from[^]*\n1 firing, 0 alarms raised/,
  )
  expect(await host.client.rules.templates.get('hot', 'simplified')).toMatchObject({
    sensors: [{ properties: { threshold: 80 } }],
  })
})
