/** The units of a resource's metrics. */
import { useMemo } from 'preact/hooks'
import { useLoad } from './loading.ts'
import { api } from './session.ts'
import { type Units, unitsOf } from './words/units.ts'

export function useUnits(resource: string | undefined): Units {
  const metrics = useLoad(async () => {
    const origins = resource === undefined || resource === '' ? [] : await api.resources.resources.explain(resource)
    return origins.find(({ attribute }) => attribute === 'metrics')?.value
  }, [resource]).data
  return useMemo(() => unitsOf(metrics), [metrics])
}
