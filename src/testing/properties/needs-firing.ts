/** The need of a property about firings: without any firing it is inconclusive. */
import type { RuleProperty } from '../property.ts'

export function needsFiring(node: string | undefined): Pick<RuleProperty, 'labels' | 'needs'> {
  return {
    ...(node !== undefined && { labels: { destinations: [node] } }),
    needs: [{ text: `${node ?? 'something'} fires`, met: (run) => run.firings(node).length > 0 }],
  }
}
