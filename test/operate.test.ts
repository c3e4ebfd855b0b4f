/** Tests the files for operators: they parse, name only what a host has, and run it without rights. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { OPTIONS } from '../src/host/config.ts'
import { root } from './support/repository.ts'

const folder = join(root, 'fixtures', 'operate')
const text = (name: string): string => readFileSync(join(folder, name), 'utf8')
const yaml = (name: string): unknown => parse(text(name))

/** Names of all metrics of a host, and the labels of each with their values. */
const metrics = new Map(
  readFileSync(join(root, 'test', 'freeze', 'golden', 'metrics.txt'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', , ...labels] = line.split(' ')
      return [name, labels] as const
    }),
)

interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly summary: string; readonly description: string }
}
const alerts = (
  yaml('prometheus/alerts.yaml') as { groups: readonly { rules: readonly AlertRule[] }[] }
).groups.flatMap(({ rules }) => rules)
const dashboard = JSON.parse(text('grafana/dashboard.json')) as {
  panels: readonly { title: string; targets: readonly { expr: string }[] }[]
}
const expressions = [
  ...alerts.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
]

describe('alerts and dashboard', () => {
  it.each(expressions)('%s reads metrics and labels of a host', (_name, expr) => {
    const names = expr.match(/\b(?:reflexarc|process)_[a-z_]+/g) ?? []
    const isUp = expr.includes('up{job="reflexarc"}')
    expect(names.length > 0 || isUp).toBe(true)
    for (const name of names) {
      const base = name.replace(/_(?:bucket|count|sum)$/, '')
      expect([...metrics.keys()], name).toContain(metrics.has(name) ? name : base)
    }
    for (const [, name = '', selector = ''] of expr.matchAll(/\b(reflexarc_[a-z_]+)\{([^}]*)\}/g)) {
      const known = metrics.get(name.replace(/_(?:bucket|count|sum)$/, '')) ?? []
      for (const [, label = '', operator = '', values = ''] of selector.matchAll(/(\w+)(=~|=)"([^"]*)"/g)) {
        if (label === 'instance' || label === 'tenant' || (operator === '=~' && values.startsWith('5'))) continue
        for (const value of operator === '=' ? [values] : values.split('|')) {
          expect(known, expr).toContain(`${label}=${value}`)
        }
      }
    }
  })

  it('have a summary and the next step, and tests that name existing alerts', () => {
    for (const { annotations } of alerts) expect([annotations.summary, annotations.description]).not.toContain('')
    const { tests } = yaml('prometheus/alerts.test.yaml') as {
      tests: readonly { alert_rule_test: readonly { alertname: string }[] }[]
    }
    const named = tests.flatMap((one) => one.alert_rule_test.map(({ alertname }) => alertname))
    for (const name of named) expect(alerts.map(({ alert }) => alert)).toContain(name)
  })
})

const environment = new Set<string>(Object.values(OPTIONS).map(({ env }) => env))
const flags = new Set<string>(Object.values(OPTIONS).map(({ flag }) => `--${flag}`))

describe('deployment files', () => {
  it.each(['Dockerfile', 'compose.yaml', 'kubernetes/reflexarc.yaml', 'reflexarc.service', 'nginx.conf'])(
    '%s uses options of a host',
    (name) => {
      const content = text(name)
      for (const [variable] of content.matchAll(/\bREFLEXARC_[A-Z_]+/g))
        expect([...environment], name).toContain(variable)
      const [, command = ''] = /(?:ExecStart=.* serve|CMD \["serve",|reflexarc serve)(.*)/.exec(content) ?? []
      for (const [flag] of command.matchAll(/--[a-z-]+/g)) expect([...flags], name).toContain(flag)
    },
  )

  it('mount files that exist, and run without rights on a read-only root', () => {
    const { services } = yaml('compose.yaml') as {
      services: Record<string, { volumes?: readonly string[]; read_only?: boolean; cap_drop?: readonly string[] }>
    }
    const mounted = Object.values(services).flatMap(({ volumes = [] }) => volumes)
    for (const [path = ''] of mounted.map((one) => one.split(':'))) {
      if (path.startsWith('./')) expect(existsSync(join(folder, path)), path).toBe(true)
    }
    expect(services['reflexarc']).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
    const [, set] = parseAllDocuments(text('kubernetes/reflexarc.yaml')).map((one) => one.toJS() as object)
    expect(set).toMatchObject({
      kind: 'StatefulSet',
      spec: {
        replicas: 1,
        template: {
          spec: {
            securityContext: { runAsNonRoot: true },
            containers: [{ securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false } }],
          },
        },
      },
    })
    expect(text('Dockerfile')).toMatch(/^USER node$/m)
    const rules = (yaml('prometheus/prometheus.yaml') as { rule_files: readonly string[] }).rule_files
    for (const file of rules) expect(existsSync(join(folder, 'prometheus', file))).toBe(true)
  })

  it('install the optional packages of a host, in the ranges of the package', () => {
    const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      peerDependencies: Record<string, string>
    }
    const installed = [...text('Dockerfile').matchAll(/ ((?:@[a-z-]+\/)?[a-z-]+)@(\d+)/g)]
    expect(installed.length).toBeGreaterThan(6)
    for (const [, name = '', major = ''] of installed) expect(peerDependencies[name], name).toMatch(`^${major}.`)
  })
})

const judge = spawnSync('systemd-analyze', ['--version']).status === 0

describe.runIf(judge)('the systemd unit', () => {
  it('has an exposure level of at most 2 of 10', () => {
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', join(folder, 'reflexarc.service')], {
      encoding: 'utf8',
    })
    const [, level] = /exposure level for reflexarc\.service: ([\d.]+)/.exec(stdout) ?? []
    expect(Number(level)).toBeLessThanOrEqual(2)
  })
})
