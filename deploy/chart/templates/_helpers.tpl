{{- define "visage.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end -}}
{{- end }}

{{- define "visage.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "visage.labels" -}}
{{ include "visage.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The secret of the admin key; empty without an admin key. */}}
{{- define "visage.adminSecret" -}}
{{- if .Values.admin.existingSecret }}{{ .Values.admin.existingSecret }}
{{- else if .Values.admin.key }}{{ include "visage.name" . }}-admin
{{- end }}
{{- end }}

{{- define "visage.databaseSecret" -}}
{{- if .Values.database.existingSecret }}{{ .Values.database.existingSecret }}
{{- else if .Values.database.url }}{{ include "visage.name" . }}-database
{{- else }}{{ fail "set database.existingSecret, database.url or settings.VISAGE_DATABASE_URL_FILE: replicas share their accounts in PostgreSQL" }}
{{- end }}
{{- end }}

{{- define "visage.scheme" -}}
{{ empty .Values.tls.secret | ternary "HTTP" "HTTPS" }}
{{- end }}

{{/* The text of a setting. In a values file, integers are floating-point numbers, and on and off are booleans. */}}
{{- define "visage.text" -}}
{{- if kindIs "bool" . }}{{ ternary "on" "off" . }}
{{- else if kindIs "string" . }}{{ . }}
{{- else }}{{ int64 . }}
{{- end }}
{{- end }}

{{/* An integer or a percentage. */}}
{{- define "visage.intOrPercent" -}}
{{- if kindIs "string" . }}{{ quote . }}{{ else }}{{ int64 . }}{{ end }}
{{- end }}

{{/* The number of workers: VISAGE_WORKERS, or one for each whole core of the limit, like the service itself. */}}
{{- define "visage.workers" -}}
{{- $cpu := dig "limits" "cpu" "" .Values.resources | toString }}
{{- with .Values.settings.VISAGE_WORKERS }}{{ include "visage.text" . }}
{{- else }}
{{- if not $cpu }}{{ fail "set resources.limits.cpu or settings.VISAGE_WORKERS: without both, the memory of the workers is unknown" }}{{ end }}
{{- $cores := trimSuffix "m" $cpu | float64 }}
{{- max 1 (ternary (divf $cores 1000) $cores (hasSuffix "m" $cpu) | floor | int64) }}
{{- end }}
{{- end }}

{{/* The text of a quantity of Kubernetes: 2Gi, 2147483648, 1500m or 1.5. */}}
{{- define "visage.quantity" -}}
{{- if or (kindIs "string" .) (ne (floor .) (float64 .)) }}{{ . }}{{ else }}{{ int64 . }}{{ end }}
{{- end }}

{{/* A quantity of Kubernetes, such as 2Gi, in whole MiB. */}}
{{- define "visage.mebibytes" -}}
{{- $text := include "visage.quantity" . }}
{{- $unit := regexFind "[A-Za-z]*$" $text }}
{{- $bytes := get (dict "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0) $unit }}
{{- divf (mulf (trimSuffix $unit $text | float64) $bytes) 1048576.0 | floor | int64 }}
{{- end }}

{{/*
The memory of a pod in MiB, as measured ("Sizing" in deploy/README.md): 200 for the server, 250 for a worker, 100 for the
search process without galleries. With Milvus it has none, and 100 is for the one that it reads. The request is what the
processes need for usual photos and full galleries; the limit adds the largest image of each worker at 4 bytes a pixel,
and all request bodies that are allowed at a time.
*/}}
{{- define "visage.memory" -}}
{{- $settings := .Values.settings }}
{{- $workers := include "visage.workers" . | int64 }}
{{- $galleries := include "visage.mebibytes" ($settings.VISAGE_GALLERY_MEMORY_BYTES | default 1073741824) | int64 }}
{{- $searches := printf "VISAGE_GALLERY_MEMORY_BYTES %dMi" $galleries }}
{{- if .Values.milvus.url }}
{{- $galleries = 100 }}
{{- $searches = "Milvus" }}
{{- end }}
{{- $bodies := include "visage.mebibytes" ($settings.VISAGE_MAX_BODY_BYTES_IN_FLIGHT | default 268435456) | int64 }}
{{- $pixels := include "visage.mebibytes" ($settings.VISAGE_MAX_IMAGE_PIXELS | default 40000000) | int64 }}
{{- $request := add 200 (mul 250 $workers) 100 $galleries }}
{{- $limit := add $request $bodies (mul $workers $pixels 4) }}
{{- $needs := printf "%d workers (VISAGE_WORKERS or resources.limits.cpu), %s, VISAGE_MAX_BODY_BYTES_IN_FLIGHT %dMi and images of %d megapixels" $workers $searches $bodies $pixels }}
{{- range $kind, $needed := dict "requests" $request "limits" $limit }}
{{- with dig $kind "memory" "" $.Values.resources }}
{{- if lt (include "visage.mebibytes" . | int64) $needed }}
{{- fail (printf "resources.%s.memory is %s, but a pod needs %dMi: %s" $kind (include "visage.quantity" .) $needed $needs) }}
{{- end }}
{{- end }}
{{- end }}
{{- dict "requests" (dict "memory" (printf "%dMi" $request)) "limits" (dict "memory" (printf "%dMi" $limit)) | toYaml }}
{{- end }}
