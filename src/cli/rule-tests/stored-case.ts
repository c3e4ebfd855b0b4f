/** Rehearses one example on the stored data of a host. */
import type { Client } from '#client'
import type { Rule, Template } from '#core'
import type { Rehearsal } from '#services/rules/contract'
import { finishedRehearsal } from '../stored.ts'
import { type CaseResult, firingProblems, seenFiring, unknownNodes } from './run-case.ts'
import { startOf, type TestCase, type TestFile } from './test-file.ts'

export async function runStoredCase(
  { resource, variables, seed }: TestFile,
  one: TestCase,
  stored: NonNullable<TestCase['stored']>,
  rule: Rule | Template,
  { rules }: Client,
): Promise<CaseResult> {
  const { from, until, type, query } = stored
  const selected = { ...(type !== undefined && { resourceTypeId: type }), ...(query !== undefined && { query }) }
  const main = stored.resource ?? resource
  const chosen = Object.keys(selected).length > 0 ? selected : main === undefined ? undefined : [main]
  const answer = await finishedRehearsal(rules, {
    rule,
    variables: { ...variables, ...one.variables },
    ...(chosen && { resources: chosen }),
    source: { from, ...(until !== undefined && { until }) },
    ...(seed !== undefined && { seed }),
  })
  const problems = [
    ...problemsOf(answer),
    ...(await firingProblems(one.expect, firingsOf(answer), startOf(one), () => Promise.resolve([]))),
    ...unknownNodes(one.expect, rule),
  ]
  return { name: one.name, problems }
}

function firingsOf({ firings = [] }: Rehearsal) {
  return firings.map(({ time, node, source, resource, why }) => ({
    ...seenFiring({ time, node, source, ...(why && { why }) }),
    ...(typeof resource === 'string' && { resource }),
  }))
}

function problemsOf({ status, error, coverage, truncated = false }: Rehearsal): readonly string[] {
  if (status !== 'done') return [`the rehearsal is ${status}${error === undefined ? '' : `: ${error}`}`]
  if (coverage?.messages === 0) return [`${coverage.summary}: the range holds no messages; choose another`]
  return truncated ? ['the rehearsal has more firings than its answer; choose a shorter range'] : []
}
