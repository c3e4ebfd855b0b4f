/** Determines which data to fetch before placeholders can be read: metadata, secrets, last values. */
import type { Needs, Root } from './scope.ts'

export function needsOf(uses: readonly { readonly root: Root; readonly segments: readonly string[] }[]): Needs {
  const metadata = (root: Root) => uses.some((use) => use.root === root && use.segments[0] === 'resource')
  return {
    taskMetadata: metadata('task'),
    nodeMetadata: metadata('node'),
    secrets: firstSegments(uses, 'vault'),
    variables: firstSegments(uses, 'variables'),
  }
}

function firstSegments(
  uses: readonly { readonly root: Root; readonly segments: readonly string[] }[],
  root: Root,
): readonly string[] {
  const names = new Set<string>()
  for (const use of uses) if (use.root === root && use.segments[0] !== undefined) names.add(use.segments[0])
  return [...names]
}
