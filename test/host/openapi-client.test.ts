/** A client that others generate from the document of the API. It needs a compiler of its own, which is older than ours. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fastify } from 'fastify'
import { expect, it } from 'vitest'
import { host } from '../../src/host/index.ts'
import { root } from '../support/repository.ts'
import { mustRun, run } from '../support/run-command.ts'
import { testFolder } from '../support/test-folder.ts'

const project = testFolder()

/** Wrong in the last line alone. */
const CLIENT = `import type { components, operations, paths } from './api'
type Tasks = paths['/api/tasks/{id}']['get']['responses'][200]['content']['application/json']
type NewAlarm = operations['postAlarms']['requestBody']['content']['application/json']
export const idOf = (task: Tasks): string => task.ID
export const alarm: NewAlarm = { type: 'T', text: 't', severity: 'MAJOR', source: { id: 'r' } }
export const severityOf = (one: components['schemas']['Alarm']): string => one.severity
export const nothing: NewAlarm = { type: 1 }
`

it('compiles, and knows what a body may not be', async () => {
  await using app = fastify()
  await app.register(host, { store: 'memory:', key: 'k', secret: 's' })
  writeFileSync(join(project, 'openapi.json'), (await app.inject('/docs/json')).body)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'a-client', private: true, type: 'module' }))
  writeFileSync(join(project, 'client.ts'), CLIENT)
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  mustRun('npm', ['install', ...quiet, 'openapi-typescript@7.13.0', 'typescript@5.9.3'], project)
  const generator = join(project, 'node_modules', 'openapi-typescript', 'bin', 'cli.js')
  mustRun(process.execPath, [generator, 'openapi.json', '-o', 'api.d.ts'], project)
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const strict = ['--strict', '--noEmit', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes', '--types', '']
  const { stdout } = run(process.execPath, [compiler, ...strict, 'client.ts'], project)
  const places = [...stdout.matchAll(/^(\S+)\((\d+),\d+\): error/gm)].map(([, file, line]) => `${file}:${line}`)
  expect([...new Set(places)], stdout).toEqual(['client.ts:7'])
}, 120_000)
