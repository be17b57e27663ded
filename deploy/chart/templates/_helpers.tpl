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
{{- else }}{{ fail "set database.existingSecret or database.url: replicas share their accounts in PostgreSQL" }}
{{- end }}
{{- end }}
