/** That a property about firings says nothing when nothing fires. */
import type { RuleProperty } from '../property.ts'

export function needsFiring(node: string | undefined): Pick<RuleProperty, 'labels' | 'needs'> {
  return {
    ...(node !== undefined && { labels: { destinations: [node] } }),
    needs: [{ text: `${node ?? 'something'} fires`, met: (run) => run.firings(node).length > 0 }],
  }
}
